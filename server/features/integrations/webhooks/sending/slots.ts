import { type Place, Places } from "#server/platform/places";

/** What an attempt at this webhook would hold up. */
export interface Bound {
  readonly orgId: string;
  readonly partnerId: string;
  readonly webhookId: string;
  readonly target: string;
  /** Its receiver answers late, or not at all. */
  readonly isBurden: boolean;
  /** The latest attempt failed: one at a time, until one arrives. */
  readonly isFailing: boolean;
}

const PER_WEBHOOK = 4;
const PER_ORGANIZATION = 16;
/** One host alone never takes all of an organization's places: before it is known to be slow it would for 30 seconds. */
const PER_ORGANIZATION_AND_TARGET = 12;
const PER_TARGET = 32;
const ALL = 256;
const PER_PARTNER = ALL / 2;

/**
 * How many attempts run at once: the contract's bounds for a webhook and an organization, and those of this process for a
 * partner, a target and in all. Receivers that answer late or never get half of an organization's, of a partner's and of
 * all: the others always find a place.
 */
export class Slots {
  readonly #places = new Places();

  get running(): number {
    return this.#places.of("all");
  }

  isFull(): boolean {
    return this.running >= ALL;
  }

  take(bound: Bound): boolean {
    return this.#places.take(placesOf(bound)) === undefined;
  }

  /** With what it was taken with. */
  free(bound: Bound): void {
    this.#places.free(placesOf(bound));
  }
}

function placesOf({ orgId, partnerId, webhookId, target, isBurden, isFailing }: Bound): Place[] {
  const places: Place[] = [
    ["all", ALL],
    [`partner ${partnerId}`, PER_PARTNER],
    [`org ${orgId}`, PER_ORGANIZATION],
    [`webhook ${webhookId}`, isFailing ? 1 : PER_WEBHOOK],
    [`target ${target}`, PER_TARGET],
    [`target ${target} of ${orgId}`, PER_ORGANIZATION_AND_TARGET],
  ];
  if (isBurden)
    places.push(
      ["burdens", ALL / 2],
      [`burdens of partner ${partnerId}`, PER_PARTNER / 2],
      [`burdens of ${orgId}`, PER_ORGANIZATION / 2],
    );
  return places;
}
