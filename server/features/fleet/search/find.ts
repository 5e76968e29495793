import type { Endpoint } from "#contract/core/endpoint";
import type { search } from "#contract/resources/fleet/search";
import { asFleetQuery } from "#server/access/fleet-queries";
import { holds } from "#server/access/principal";
import { type Call, user } from "#server/http/call";
import { findDevices } from "./find-devices.ts";
import { shares } from "./rules.ts";
import { findSettings } from "./settings.ts";

type FindCall = typeof search.find extends Endpoint<infer T> ? Call<T> : never;

/** Devices alone, of a caller that may read them. */
export const findDevicesByName = (call: Call, q: string, limit: number) =>
  asFleetQuery(call, async () => ({ results: await findDevices(call, q, limit) }));

/** What the caller may read and whose name contains the text (docs/search.md, "What is searched"). */
export function findByName(call: FindCall) {
  const { q, limit } = call.query;
  const who = user(call);
  return asFleetQuery(call, async () => {
    const devices = holds(who, "devices:read") ? await findDevices(call, q, limit) : [];
    const settings = findSettings(who, q);
    const [ofDevices = 0, ofSettings = 0] = shares([devices.length, settings.length], limit);
    return { results: [...devices.slice(0, ofDevices), ...settings.slice(0, ofSettings)] };
  });
}
