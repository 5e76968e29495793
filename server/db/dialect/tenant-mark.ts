/** How many values a code point of a mark has: those outside the first plane, which names of devices rarely use. */
const [FIRST, BITS] = [0x10000, 20n];

/**
 * Three characters that stand for a tenant in an index of trigrams on SQLite, made from the random end of its id. That
 * two tenants have the same is next to impossible, and only makes a search longer: the query narrows what is found.
 */
export function tenantMark(id: string): string {
  const bits = BigInt(`0x${id.replaceAll("-", "").slice(-15)}`);
  const part = (place: bigint) => FIRST + Number((bits >> (BITS * place)) & ((1n << BITS) - 1n));
  return String.fromCodePoint(part(2n), part(1n), part(0n));
}
