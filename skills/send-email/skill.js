/** Sends one mail; the host decides to whom, and sends nothing when one of the recipients is not allowed. */
export async function run({ to, cc, subject, text }, ctx) {
  const { message_id, accepted, rejected } = await ctx.mail().send({ to: once(to), cc: once(cc ?? []).filter((address) => !isIn(to, address)), subject, text })
  return { message_id, accepted, rejected }
}

// Whoever is named twice gets one mail.
function once(addresses) {
  return addresses.filter((address, index) => !isIn(addresses.slice(0, index), address))
}

function isIn(addresses, wanted) {
  return addresses.some((address) => address.toLowerCase() === wanted.toLowerCase())
}
