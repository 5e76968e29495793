import type { ElevationRequestsGetResult as Shown } from "#sdk/generated/models/index";
import type { Context } from "../../context.ts";
import { formatOf, printResult } from "../../output/print.ts";

/** Who a line is by where nobody is named. */
const unnamed = { user: "a person", agent: "the device", api_key: "a key", system: "the server" } as const;

/** A request with its ledger, of which people see in each line when, what, who and why; programs get the answer as it is. */
export async function showRequest(context: Context, request: Shown, fields: readonly string[]): Promise<void> {
  const isForPeople = formatOf(context) === "table" && context.globals.columns === undefined;
  await printResult(context, isForPeople ? { ...request, events: request.events.map(ledgerLine) } : request, {
    fields,
  });
}

const ledgerLine = ({ at, event, actorType, actorName, details }: Shown["events"][number]) => ({
  ...{ time: at, event, who: actorName ?? unnamed[actorType], details },
});
