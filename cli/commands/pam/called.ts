import type { Elevation } from "#sdk/generated/models/index";
import type { Context } from "../../context.ts";
import { CliError, missingInput, usageError } from "../../errors/cli-error.ts";
import { isId } from "../../generic/names.ts";

/** Shorter beginnings say too little to decide by. */
const PREFIX_MIN = 6;
/** Digits of an id that are its time, in milliseconds. */
const TIME_DIGITS = 12;
/** Of the year 9998: a later one is no time that a server takes. */
const LAST_MS = Date.UTC(9999);
/** Between the moment that an id holds and the one that its row does. */
const APART_MS = 60_000;

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
    const start = startOf(one);
    waiting ??= await client.elevationRequests.list({ query: { status: "pending", limit: 100 } }, { signal }).toArray();
    found.push(theOne(one, "request that waits", beginningWith(start, waiting)));
  }
  return [...new Map(found.map((request) => [request.id, request])).values()];
}

/** The id of the one request, in whatever status, that begins so; a whole id as it is. */
export async function idCalled(context: Context, called: string): Promise<string> {
  if (isId(called)) return called;
  const start = startOf(called);
  const digits = start.replaceAll("-", "");
  const moment = (filler: string) =>
    Math.min(Number.parseInt(digits.slice(0, TIME_DIGITS).padEnd(TIME_DIGITS, filler), 16), LAST_MS);
  const client = await context.client();
  const query = {
    from: new Date(moment("0") - APART_MS).toISOString(),
    to: new Date(moment("f") + APART_MS).toISOString(),
    limit: 100,
  };
  const near = await client.elevationRequests.list({ query }, { signal: context.shell.signal }).toArray();
  return theOne(called, "request", beginningWith(start, near)).id;
}

function startOf(text: string): string {
  const start = text.toLowerCase();
  if (!/^[0-9a-f-]+$/.test(start)) throw usageError(`${text} is no id, nor the beginning of one`);
  if (start.length < PREFIX_MIN)
    throw usageError(`${text} is too short: give ${PREFIX_MIN} characters of an id, or all`);
  return start;
}

const beginningWith = (start: string, among: readonly Elevation[]) => among.filter(({ id }) => id.startsWith(start));

function theOne(text: string, what: string, [only, ...others]: readonly Elevation[]): Elevation {
  if (only === undefined) throw new CliError(`No ${what} begins with ${text}`, { exit: "notFound", code: "NOT_FOUND" });
  if (others.length === 0) return only;
  throw usageError(
    `${text} is the beginning of ${others.length + 1} requests: nothing was done`,
    [only, ...others].map(({ id, deviceHostname }) => `${id} ${deviceHostname}`).join("; "),
  );
}
