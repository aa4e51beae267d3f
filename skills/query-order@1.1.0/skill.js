import { orders } from './data/orders.js'

const maxShown = 5

/** Finds orders of the sample shop: one by its number, or those of a customer or of a status, the newest first. */
export async function run({ order_id, customer, status, limit = maxShown }, ctx) {
  const wanted = order_id?.trim().replace(/^#/, '')
  const known = wanted === undefined ? orders : orders.filter((order) => order.order_id === wanted)
  // Filters may leave nothing over; a number that does not exist is another matter.
  if (known.length === 0) ctx.refuse('ORDER_NOT_FOUND', `There is no order ${wanted}; ask the customer for the number in the confirmation mail.`)
  const found = known.filter((order) => (status === undefined || order.status === status) && (customer === undefined || isOf(order, customer)))
  return { count: found.length, orders: found.slice(-Math.min(limit, maxShown)).reverse() }
}

function isOf({ customer }, text) {
  const wanted = plain(text)
  return plain(customer.name).includes(wanted) || customer.email === wanted
}

// People leave accents out, and begin with a small letter.
function plain(text) {
  return text.trim().normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
}
