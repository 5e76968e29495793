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
  const place = placeOf(name.replaceAll(" ", "_"));
  const [meant = ""] = suggestions(place, [...new Set(zones.map(placeOf))]);
  const isRegion = !name.includes("/") || zones.some((zone) => zone.startsWith(name.slice(0, name.indexOf("/") + 1)));
  if (!isRegion && meant.toLowerCase() !== place.toLowerCase()) return "";
  const there = zones.filter((zone) => placeOf(zone) === meant);
  return there.length === 0 ? "" : ` (did you mean ${there.join(" or ")}?)`;
}

const placeOf = (zone: string): string => zone.slice(zone.lastIndexOf("/") + 1);
