import type { Call } from "#server/http/call";

/** Whether a list was longer than is taken at once, or none at all, as answers of agents say it (docs/fleet.md, "Agent leniency"). */
export function leftAtEnd(call: Pick<Call, "body" | "sentBody">, name: string): { ignoredFields?: string[] } {
  const sent = (call.sentBody as Record<string, unknown> | undefined)?.[name];
  const taken = (call.body as Record<string, unknown>)[name];
  const whole = Array.isArray(sent) ? Array.isArray(taken) && taken.length === sent.length : sent === undefined;
  return whole ? {} : { ignoredFields: [name] };
}
