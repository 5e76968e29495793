import type { ExpressionBuilder, Kysely } from "kysely";
import type { osTypes } from "#contract/resources/fleet/devices";
import { patchSeverities } from "#contract/resources/software/patches";
import { orgsInList } from "#server/access/org-access";
import type { DialectName } from "#server/db/dialect/index";
import { among, hasElement } from "#server/db/dialect/json";
import { isLike, matches, word } from "#server/db/dialect/text";
import { preparedRows } from "#server/db/prepared";
import type { Database } from "#server/db/tables";

/** Which of the patches of devices within reach are looked for. A type of its own, so that it fits `Given`. */
export type Asked = {
  /** One patch alone; then lists hide nothing. */
  id?: string | undefined;
  orgId?: string | undefined;
  source?: string | undefined;
  severityRank?: number | undefined;
  os?: string | undefined;
  pattern?: string | undefined;
  cveId?: string | undefined;
};

type Rows = ExpressionBuilder<Database, "devicePatches">;

/** Rows of devices within reach; the handle narrows them to the caller's organizations and sites. */
function reached(db: Kysely<Database>, { id, orgId, source }: Asked) {
  let query = db.selectFrom("devicePatches");
  query =
    id === undefined
      ? query.where("devicePatches.orgId", "in", orgsInList(orgId))
      : query.where("devicePatches.patchId", "=", id);
  return source === undefined ? query : query.where("devicePatches.source", "=", source as "linux");
}

const countWhere = (eb: Rows, condition: ReturnType<Rows["and"]>) =>
  eb.fn.sum<number>(eb.case().when(condition).then(eb.lit(1)).else(eb.lit(0)).end());

const withStatus = (eb: Rows, status: "pending" | "installed") =>
  countWhere(eb, eb.and([eb("devicePatches.status", "=", word(status))]));

const withSystem = (eb: Rows, os: (typeof osTypes)[number]) =>
  countWhere(eb, eb.and([eb("devicePatches.osType", "=", word(os))]));

/**
 * One row a patch, over all its rows within reach. A patch is found if one of them satisfies every filter: what is shown
 * of it does not depend on the filters.
 */
export function grouped(db: Kysely<Database>, asked: Asked, dialect: DialectName) {
  const { severityRank, os, pattern, cveId } = asked;
  const query = reached(db, asked).groupBy(["devicePatches.patchId", "devicePatches.source"]);
  if ([severityRank, os, pattern, cveId].every((filter) => filter === undefined)) return query;
  return query.having((eb) => {
    const conditions = [];
    if (severityRank !== undefined) conditions.push(eb("devicePatches.severityRank", "=", severityRank));
    if (os !== undefined) conditions.push(eb("devicePatches.osType", "=", os as "linux"));
    if (pattern !== undefined)
      conditions.push(
        eb.or([
          isLike(eb.ref("devicePatches.titleKey"), pattern),
          matches(eb.ref("devicePatches.externalId"), pattern),
        ]),
      );
    if (cveId !== undefined) conditions.push(eb.and([hasElement(eb.ref("devicePatches.cveIds"), cveId, dialect)]));
    return eb(countWhere(eb, eb.and(conditions)), ">", eb.lit(0));
  });
}

/** What lists are ordered by stands under names of its own. */
export const withFacts = (query: ReturnType<typeof grouped>) =>
  query.select((eb) => [
    "devicePatches.patchId as id",
    "devicePatches.source as bySource",
    eb.fn.min("devicePatches.titleKey").as("byTitle"),
    eb.fn.max("devicePatches.severityRank").as("bySeverity"),
    eb.fn.min("devicePatches.releaseDate").as("byRelease"),
    eb.fn.min("devicePatches.firstSeenAt").as("bySeen"),
    withStatus(eb, "pending").as("pendingDeviceCount"),
    withStatus(eb, "installed").as("installedDeviceCount"),
    withSystem(eb, "windows").as("windows"),
    withSystem(eb, "macos").as("macos"),
    withSystem(eb, "linux").as("linux"),
  ]);

/** Of each of these patches the row with the first title: its words are shown. */
export const wordsOf = preparedRows((db, { ids, orgId, id }: { ids: string[] } & Pick<Asked, "orgId" | "id">) => {
  const ranked = reached(db, { orgId, id })
    .where((eb) => among(db, eb.ref("devicePatches.patchId"), ids))
    .select(["devicePatches.patchId", "devicePatches.title", "devicePatches.vendor", "devicePatches.externalId"])
    .select(["devicePatches.packageId", "devicePatches.availableVersion", "devicePatches.installedVersion"])
    .select(["devicePatches.category", "devicePatches.kbNumber", "devicePatches.requiresRestart"])
    .select(["devicePatches.sizeBytes", "devicePatches.cveIds"])
    .select((eb) =>
      eb.fn
        .agg<number>("row_number")
        .over((over) =>
          over.partitionBy("devicePatches.patchId").orderBy("devicePatches.titleKey").orderBy("devicePatches.deviceId"),
        )
        .as("place"),
    );
  return db
    .selectFrom(ranked.as("words"))
    .selectAll()
    .where("words.place", "=", (eb) => eb.lit(1));
});

type Facts = Awaited<ReturnType<ReturnType<typeof withFacts>["execute"]>>[number];
type Words = Awaited<ReturnType<typeof wordsOf>>[number];

const MB = 1_000_000;

/** A patch as the API shows it. */
export function view(facts: Facts, words: Words) {
  const { externalId, packageId, vendor, title, category, cveIds } = words;
  const number = facts.bySource === "microsoft" ? /^(?:KB)?(\d{5,9})$/i.exec(words.kbNumber ?? "")?.[1] : undefined;
  const systems = (["windows", "macos", "linux"] as const).filter((os) => Number(facts[os]) > 0);
  return {
    ...{ id: facts.id, source: facts.bySource, externalId, packageId, vendor, title, category, cveIds },
    version: words.availableVersion ?? words.installedVersion,
    severity: patchSeverities[facts.bySeverity] ?? "unknown",
    osTypes: systems,
    releaseDate: facts.byRelease,
    kbArticleUrl: number === undefined ? null : `https://support.microsoft.com/help/${number}`,
    requiresReboot: words.requiresRestart,
    downloadSizeMb: words.sizeBytes === null ? null : Math.round((words.sizeBytes / MB) * 100) / 100,
    createdAt: facts.bySeen,
    pendingDeviceCount: Number(facts.pendingDeviceCount),
    installedDeviceCount: Number(facts.installedDeviceCount),
  };
}
