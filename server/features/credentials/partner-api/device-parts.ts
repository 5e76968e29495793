/** The most items of a list in a row, unless the list has a limit of its own. */
export const COLLECTION_MAX = 500;

/** How much of a list a row holds. */
export const counted = (total: number, max = COLLECTION_MAX) => ({
  total,
  included: Math.min(total, max),
  complete: total <= max,
});

/** Parts of devices, in their order, by device. */
export function byDevice<Part extends { deviceId: string }>(parts: readonly Part[]): ReadonlyMap<string, Part[]> {
  const found = new Map<string, Part[]>();
  for (const part of parts) {
    const others = found.get(part.deviceId);
    if (others) others.push(part);
    else found.set(part.deviceId, [part]);
  }
  return found;
}
