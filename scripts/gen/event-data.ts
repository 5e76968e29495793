import type { z } from "zod";
import { eventKinds, events } from "#contract/core/events";
import { jsonSchemaOf } from "#contract/json-schema";
import { banner } from "./text.ts";
import { fieldLines } from "./type-text.ts";

/** What each kind of event tells, as plain types. */
export function sdkEventData(): string {
  const kinds = eventKinds.flatMap((kind) => {
    const schema = jsonSchemaOf(events[kind].data() as z.ZodType, "output");
    return [
      `  /** ${events[kind].summary} */`,
      `  ${JSON.stringify(kind)}: {`,
      ...fieldLines(schema, "output", "    "),
      "  };",
    ];
  });
  return [banner, "/** What an event of each kind tells. */", "export interface EventData {", ...kinds, "}", ""].join(
    "\n",
  );
}
