import { areas } from "#contract/areas";
import { nounOf } from "#contract/core/endpoint";
import { errorTable } from "#contract/core/errors";
import { eventKinds } from "#contract/core/events";
import { auditActions } from "#contract/core/generated/audit-actions";
import { contract } from "#contract/generated/table";
import { allEndpoints } from "#contract/index";
import { isTest, type Source, sources } from "./sources.ts";

/** Files that use the words of a closed list: handlers, endpoints and the check of filters, not the list itself. */
const gives = ({ path }: Source): boolean =>
  !isTest(path) && /^(server|sdk\/contract\/resources|sdk\/contract\/core\/filters)\//.test(path);

/**
 * What is published and never happens: error codes and audit actions that no endpoint names and no server code gives,
 * and event kinds of nouns that do not exist or that no server code tells. A room adds its own when it comes.
 */
export async function unusedFaults(files: readonly Source[] = sources()): Promise<string[]> {
  const words = wordsOf(files.filter(gives));
  // An endpoint may declare a kind and never tell it: server code alone tells.
  const told = wordsOf(files.filter(gives).filter(({ path }) => path.startsWith("server/")));
  const named = new Set<unknown>(allEndpoints().map(({ audit }) => audit));
  // Some kinds are called by their area: `security.threat_detected`.
  const things = new Set<string | undefined>([
    ...Object.values(contract).map((resource) => nounOf(resource).thing),
    ...Object.keys(areas),
    // Paths and events call a group of devices a group, and events what is given to a request an elevation.
    "group",
    "elevation",
    // The rows of their feed are findings as well.
    "incident",
  ]);
  return [
    ...Object.keys(errorTable)
      .filter((code) => !words.has(code))
      .map((code) => `error code ${code} is answered by nothing: sdk/contract/core/errors.ts`),
    ...auditActions
      .filter((action) => !told.has(action) && !named.has(action))
      .map((action) => `audit action ${action} is written by nothing: take it out of its noun`),
    ...eventKinds
      .filter((kind) => !things.has(kind.split(".")[0] as string))
      .map((kind) => `event kind ${kind} is of no noun or area that exists: sdk/contract/core/events.ts`),
    ...eventKinds
      .filter((kind) => !told.has(kind))
      .map((kind) => `event kind ${kind} is told by nothing: sdk/contract/core/events.ts`),
  ];
}

const wordsOf = (files: readonly Source[]) =>
  new Set(files.flatMap(({ text }) => [...text.matchAll(/["']([\w.-]+)["']/g)].map((match) => match[1])));
