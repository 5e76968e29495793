/** The kinds of things that a search may find; the first shares are measured by all of them. */
const KINDS = 4;

/** How many of each kind are shown: a quarter of the places first, then what is left, in the order of the kinds. */
export function shares(found: readonly number[], limit: number): number[] {
  let left = limit;
  const take = (wanted: number) => {
    const taken = Math.min(wanted, left);
    left -= taken;
    return taken;
  };
  const first = found.map((count) => take(Math.min(count, Math.ceil(limit / KINDS))));
  return found.map((count, kind) => (first[kind] as number) + take(count - (first[kind] as number)));
}

interface Named {
  readonly id: string;
  readonly hostnameKey: string;
}

/** Those whose hostname begins with the text come first; then by hostname, in the order of its bytes. */
export const byNearness =
  (folded: string) =>
  (a: Named, b: Named): number =>
    Number(b.hostnameKey.startsWith(folded)) - Number(a.hostnameKey.startsWith(folded)) ||
    Buffer.compare(Buffer.from(a.hostnameKey), Buffer.from(b.hostnameKey)) ||
    (a.id < b.id ? -1 : 1);

/** `SRV-01 · online · ada`, without what is not known. */
export const describeDevice = (parts: readonly (string | null)[]): string =>
  parts.filter((part) => part !== null && part !== "").join(" · ");
