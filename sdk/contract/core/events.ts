import type { z } from "zod";
import { accessControlEvents } from "./events/access-control.ts";
import { alertingEvents } from "./events/alerting.ts";
import type { EventSpec } from "./events/define.ts";
import { fleetEvents } from "./events/fleet.ts";
import { peopleEvents } from "./events/people.ts";
import { securityEvents } from "./events/security.ts";
import { softwareEvents } from "./events/software.ts";
import { tenancyEvents } from "./events/tenancy.ts";

/** Kinds of events by the area of the nouns that tell them. */
export const eventsByArea = {
  fleet: fleetEvents,
  "access-control": accessControlEvents,
  tenancy: tenancyEvents,
  people: peopleEvents,
  security: securityEvents,
  software: softwareEvents,
  alerting: alertingEvents,
} as const;

/** Every kind of event of the product with what is told of it (docs/platform.md, "Events"). */
const table = {
  ...fleetEvents,
  ...accessControlEvents,
  ...securityEvents,
  ...softwareEvents,
  ...alertingEvents,
  ...tenancyEvents,
  ...peopleEvents,
};

export type EventKind = keyof typeof table;
/** What an event of this kind tells. */
export type EventData<K extends EventKind = EventKind> = z.output<ReturnType<(typeof table)[K]["data"]>>;

export const events: Readonly<Record<EventKind, EventSpec>> = table as unknown as Readonly<
  Record<EventKind, EventSpec>
>;
export const eventKinds = Object.keys(table) as readonly EventKind[];
