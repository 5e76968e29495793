import type { Endpoint } from "#contract/core/endpoint";
import { type patches, patchSeverities, patchSources } from "#contract/resources/software/patches";
import { getNamedOrg } from "#server/access/org-access";
import type { DialectName } from "#server/db/dialect/index";
import { containsPattern } from "#server/db/dialect/text";
import { preparedRows } from "#server/db/prepared";
import type { Call } from "#server/http/call";
import { type Asked, grouped, view, withFacts, wordsOf } from "./queries.ts";

type ListCall = typeof patches.list extends Endpoint<infer T> ? Call<T> : never;

/** Patches of the devices that the caller reaches (docs/software.md, "What is shown of a patch"). */
export async function listPatches(call: ListCall) {
  const { page, limit, orgId, source, severity, os, search, cveId, sortBy = "createdAt", sortDir } = call.query;
  if (orgId !== undefined) await getNamedOrg(call, orgId);
  const asked: Asked = {
    ...{ orgId, os, cveId },
    severityRank: severity === undefined ? undefined : patchSeverities.indexOf(severity),
    pattern: search ? containsPattern(search) : undefined,
  };
  const { dialect } = call.services.store;
  const direction = sortDir ?? (sortBy === "title" || sortBy === "source" ? "asc" : "desc");
  const [counted, found] = await Promise.all([
    countsOf(call.db, asked, { dialect }),
    pageOf(call.db, { ...asked, source, limit, offset: (page - 1) * limit }, { dialect, sortBy, direction }),
  ]);
  const ids = found.map(({ id }) => id);
  const words = new Map((await wordsOf(call.db, { ids, orgId }, null)).map((row) => [row.patchId, row]));
  const given = new Map(counted.map((row) => [row.source, Number(row.count)]));
  const counts = Object.fromEntries(patchSources.map((one) => [one, given.get(one) ?? 0]));
  const total = source === undefined ? [...given.values()].reduce((sum, count) => sum + count, 0) : counts[source];
  return {
    data: found.flatMap((facts) => {
      const own = words.get(facts.id);
      return own === undefined ? [] : [view(facts, own)];
    }),
    pagination: { page, limit, total: total ?? 0 },
    counts,
  };
}

const keys = {
  title: "byTitle",
  severity: "bySeverity",
  source: "bySource",
  releaseDate: "byRelease",
  createdAt: "bySeen",
} as const;

interface Form {
  readonly dialect: DialectName;
  readonly sortBy: keyof typeof keys;
  readonly direction: "asc" | "desc";
}

const pageOf = preparedRows(
  (db, { limit, offset, ...asked }: Asked & { limit: number; offset: number }, { dialect, sortBy, direction }: Form) =>
    withFacts(grouped(db, asked, dialect))
      .orderBy(keys[sortBy], (order) => (direction === "asc" ? order.asc() : order.desc()).nullsLast())
      .orderBy("devicePatches.patchId")
      .limit(limit)
      .offset(offset),
);

/** Of every source, whichever the list is narrowed to. */
const countsOf = preparedRows((db, asked: Asked, { dialect }: Pick<Form, "dialect">) =>
  db
    .selectFrom(grouped(db, asked, dialect).select("devicePatches.source").as("each"))
    .select((eb) => ["each.source", eb.fn.countAll<number>().as("count")])
    .groupBy("each.source"),
);
