/** Parts of a postal address that exports, files and column mappings know; an address of a site may have any others. */
export const addressParts = ["line1", "line2", "city", "region", "postalCode", "country"] as const;

export type Address = Readonly<Record<string, unknown>>;

/** What the second name must agree with (docs/tenancy.md, "Sites"). */
export const regionMismatch = "must be the same as region, whose other name it is";

/** Whether `state` and `region` say the same, as far as both say something. */
export const namesOneRegion = ({ state, region }: Address): boolean =>
  isBlank(state) || isBlank(region) || JSON.stringify(state) === JSON.stringify(region);

/** The address with its region under `region`: `state` is accepted as another name of it and never kept. */
export function withRegion(address: Address): Record<string, unknown> {
  if (!Object.hasOwn(address, "state")) return { ...address };
  const { state, ...rest } = address;
  return isBlank(rest["region"]) && state !== undefined ? { ...rest, region: state } : rest;
}

const isBlank = (value: unknown): boolean => value === undefined || value === null || value === "";
