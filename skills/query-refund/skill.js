import { orderIds } from './data/order-ids.js'
import { refunds } from './data/refunds.js'

const maxShown = 5

/** Finds the refunds of one order of the sample shop, the newest first. */
export async function run({ order_id }, ctx) {
  const wanted = order_id.trim().replace(/^#/, '')
  if (!orderIds.includes(wanted)) ctx.refuse('ORDER_NOT_FOUND', `There is no order ${wanted}; ask the customer for the number in the confirmation mail.`)
  const found = refunds.filter((refund) => refund.order_id === wanted)
  return { order_id: wanted, count: found.length, refunds: found.slice(-maxShown).reverse() }
}
