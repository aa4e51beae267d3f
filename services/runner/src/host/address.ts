import ipaddr from 'ipaddr.js'

/** Whether an address is one of the public internet: anything private, local, mapped to such, or special is not. */
export function isPublicAddress(text: string): boolean {
  let address: ipaddr.IPv4 | ipaddr.IPv6
  try {
    address = ipaddr.process(text)
  } catch {
    return false
  }
  if (address.range() !== 'unicast') return false
  if (address.kind() === 'ipv4') return true
  const parts = (address as ipaddr.IPv6).parts
  // ::/96 holds the old IPv4-compatible form, which is called unicast and reaches loopback.
  if (parts.slice(0, 6).every((part) => part === 0)) return false
  // NAT64 and 6to4 carry an IPv4 address inside.
  if (parts[0] === 0x64 && parts[1] === 0xff9b) return false
  return parts[0] !== 0x2002
}
