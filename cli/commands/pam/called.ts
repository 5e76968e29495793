import type { Elevation } from "#sdk/generated/models/index";
import type { Context } from "../../context.ts";
import { CliError, missingInput, usageError } from "../../errors/cli-error.ts";
import { isId } from "../../generic/names.ts";

/** Shorter beginnings say too little to decide by. */
const PREFIX_MIN = 6;

/**
 * Ids begin with the time: of requests that came within hours of each other the first characters are the same, so that
 * what is left waiting may be another one than was meant. Nobody looks at it when no question is asked.
 */
export function refuseBeginnings(called: readonly string[]): void {
  const short = called.find((one) => !isId(one));
  if (short !== undefined) throw usageError(`${short} is not a whole id, and --yes asks nobody whether it is the one`);
}

/** The requests that are named by id, or by the beginning of one that waits; never one of several. */
export async function requestsCalled(context: Context, called: readonly string[]): Promise<Elevation[]> {
  if (called.length === 0) throw missingInput(["an id"], "`rmm pam list --status pending` shows what waits");
  const client = await context.client();
  const { signal } = context.shell;
  let waiting: Elevation[] | undefined;
  const found: Elevation[] = [];
  for (const one of called) {
    if (isId(one)) {
      const { events: _, ...request } = await client.elevationRequests.get({ params: { id: one } }, { signal });
      found.push(request);
      continue;
    }
    waiting ??= await client.elevationRequests.list({ query: { status: "pending", limit: 100 } }, { signal }).toArray();
    found.push(beginningWith(one, waiting));
  }
  return [...new Map(found.map((request) => [request.id, request])).values()];
}

function beginningWith(text: string, waiting: readonly Elevation[]): Elevation {
  const start = text.toLowerCase();
  if (start.length < PREFIX_MIN)
    throw usageError(`${text} is too short: give ${PREFIX_MIN} characters of an id, or all`);
  const [only, ...others] = waiting.filter(({ id }) => id.startsWith(start));
  if (only === undefined)
    throw new CliError(`No request that waits begins with ${text}`, { exit: "notFound", code: "NOT_FOUND" });
  if (others.length > 0)
    throw usageError(
      `${text} is the beginning of ${others.length + 1} requests: nothing was done`,
      [only, ...others].map(({ id, deviceHostname }) => `${id} ${deviceHostname}`).join("; "),
    );
  return only;
}
