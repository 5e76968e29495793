import { didYouMean } from "./suggest.ts";

const LONGEST = 50;

export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    // Newer engines take "+02:00" as well, which knows no summer time.
    return name.length <= LONGEST && !/^[+-]/.test(name);
  } catch {
    return false;
  }
}

/** ` (did you mean Europe/Berlin?)`: by the whole name, else by its last part, which is what people know. */
export function zonesLike(name: string): string {
  if (name.length > LONGEST) return "";
  const zones = ["UTC", ...Intl.supportedValuesOf("timeZone")];
  const close = didYouMean(name, zones);
  if (close !== "") return close;
  const placeOf = (zone: string) => zone.slice(zone.lastIndexOf("/") + 1);
  const wanted = placeOf(name).replaceAll(" ", "_").toLowerCase();
  const there = zones.filter((zone) => placeOf(zone).toLowerCase() === wanted);
  return there.length === 0 ? "" : ` (did you mean ${there.join(" or ")}?)`;
}
