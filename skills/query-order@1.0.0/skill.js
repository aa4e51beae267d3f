export async function run({ order_id }) { return { count: 1, orders: [{ order_id, amount: 12.5 }] } }
