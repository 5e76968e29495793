/** What an attempt at this webhook would hold up. */
export interface Bound {
  readonly orgId: string;
  readonly webhookId: string;
  readonly target: string;
  /** Its receiver answers late, or not at all. */
  readonly isBurden: boolean;
  /** The latest attempt failed: one at a time, until one arrives. */
  readonly isFailing: boolean;
}

const PER_WEBHOOK = 4;
const PER_ORGANIZATION = 16;
const PER_TARGET = 32;
const ALL = 256;

/**
 * How many attempts run at once: the contract's bounds for a webhook and an organization, and those of this process for a
 * target and in all. Receivers that answer late or never get half of an organization's, and of all: the others always
 * find a place.
 */
export class Slots {
  readonly #taken = new Map<string, number>();

  get running(): number {
    return this.#of("all");
  }

  runningOf(orgId: string): number {
    return this.#of(`org ${orgId}`);
  }

  isFull(): boolean {
    return this.running >= ALL;
  }

  take(bound: Bound): boolean {
    const places = placesOf(bound);
    if (places.some(([place, limit]) => this.#of(place) >= limit)) return false;
    for (const [place] of places) this.#taken.set(place, this.#of(place) + 1);
    return true;
  }

  /** With what it was taken with. */
  free(bound: Bound): void {
    for (const [place] of placesOf(bound)) {
      const left = this.#of(place) - 1;
      if (left > 0) this.#taken.set(place, left);
      else this.#taken.delete(place);
    }
  }

  #of(place: string): number {
    return this.#taken.get(place) ?? 0;
  }
}

function placesOf({ orgId, webhookId, target, isBurden, isFailing }: Bound): [place: string, limit: number][] {
  const places: [string, number][] = [
    ["all", ALL],
    [`org ${orgId}`, PER_ORGANIZATION],
    [`webhook ${webhookId}`, isFailing ? 1 : PER_WEBHOOK],
    [`target ${target}`, PER_TARGET],
  ];
  if (isBurden) places.push(["burdens", ALL / 2], [`burdens of ${orgId}`, PER_ORGANIZATION / 2]);
  return places;
}
