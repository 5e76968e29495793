import { z } from "zod";
import { type EventKind, eventKinds, events } from "./core/events.ts";
import { instant } from "./core/fields.ts";
import { type Components, referenced } from "./openapi-components.ts";

/** Each kind of event as the request that tells a receiver of it. */
export const webhooksOf = (schemas: Components): Record<string, unknown> =>
  Object.fromEntries(eventKinds.map((kind) => [kind, { post: operation(kind, schemas) }]));

const operation = (kind: EventKind, schemas: Components) => ({
  summary: events[kind].summary,
  requestBody: {
    required: true,
    content: { "application/json": { schema: referenced(envelope(kind), "output", schemas) } },
  },
  responses: { "2XX": { description: "Taken; with any other answer it is sent again." } },
});

/** What every event says beside its data (docs/platform.md, "Events"). */
const envelope = (kind: EventKind) =>
  z.object({
    id: z.string().meta({ format: "uuid" }).describe("the same wherever, and however often, the event is told"),
    type: z.literal(kind),
    timestamp: instant(),
    orgId: z.string().meta({ format: "uuid" }),
    siteId: z.string().meta({ format: "uuid" }).nullable(),
    data: events[kind].data(),
  });
