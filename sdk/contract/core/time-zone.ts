import { suggestions } from "./suggest.ts";

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

/** ` (did you mean Europe/Berlin?)`: by its last part, which is what people know. */
export function zonesLike(name: string): string {
  if (name.length > LONGEST) return "";
  const zones = ["UTC", ...Intl.supportedValuesOf("timeZone")];
  const [meant] = suggestions(placeOf(name.replaceAll(" ", "_")), [...new Set(zones.map(placeOf))]);
  const there = zones.filter((zone) => placeOf(zone) === meant);
  return there.length === 0 ? "" : ` (did you mean ${there.join(" or ")}?)`;
}

const placeOf = (zone: string): string => zone.slice(zone.lastIndexOf("/") + 1);
