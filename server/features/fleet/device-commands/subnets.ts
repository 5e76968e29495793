/** IPv4 networks as agents report them: what is no dotted address shares no network. */
function bits(address: string): number | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(address);
  const parts = match?.slice(1).map(Number);
  if (!parts || parts.some((part) => part > 255)) return undefined;
  return parts.reduce((all, part) => all * 256 + part, 0);
}

/** Without a mask, or with one that is none, 24 bits. */
function maskBits(mask: string | null): number {
  const given = mask === null ? undefined : bits(mask);
  const inverted = given === undefined ? undefined : ~given >>> 0;
  const isMask = inverted !== undefined && (inverted & (inverted + 1)) === 0 && given !== 0;
  return isMask ? (given as number) : 0xffffff00;
}

export function sameNetwork(a: string, b: string, mask: string | null): boolean {
  const [left, right] = [bits(a), bits(b)];
  if (left === undefined || right === undefined) return false;
  const of = maskBits(mask);
  return (left & of) === (right & of);
}

export function broadcastOf(address: string, mask: string | null): string {
  const last = ((bits(address) ?? 0) | ~maskBits(mask)) >>> 0;
  return [24, 16, 8, 0].map((shift) => (last >>> shift) & 255).join(".");
}
