import { orders } from './data/orders.js'

/** Finds one order of the sample shop by its number. */
export async function run({ order_id }, ctx) {
  const wanted = order_id.trim().replace(/^#/, '')
  const found = orders.filter((order) => order.order_id === wanted)
  if (found.length === 0) ctx.refuse('ORDER_NOT_FOUND', `There is no order ${wanted}; ask the customer for the number in the confirmation mail.`)
  return { count: found.length, orders: found }
}
