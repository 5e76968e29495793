import { expressionBuilder } from "kysely";
import { PREVIEW_SCANNED_MAX } from "#contract/resources/access-control/pam-rules";
import type { Database } from "#server/db/tables";
import type { Reader } from "#server/db/unit-of-work";
import { type Call, user } from "#server/http/call";
import type { Scanned } from "./scan.ts";

interface Asked {
  readonly orgId: string;
  /** Of the draft: only requests of devices that stand there today. */
  readonly siteId: string | null;
  readonly flowType: Scanned["flowType"] | undefined;
  readonly from: string;
}

const PAGE = 200;

/** The newest requests in pages; `cut`: there are more than a preview scans. */
export async function* newestRequests(
  call: Call,
  asked: Asked,
): AsyncGenerator<{ readonly requests: readonly Scanned[]; readonly cut: boolean }> {
  let last: Row | undefined;
  for (let read = 0; read < PREVIEW_SCANNED_MAX; read += PAGE) {
    const rows = await pageOf(call, asked, last).limit(PAGE).execute();
    last = rows.at(-1) ?? last;
    yield { requests: rows.map(candidateOf), cut: false };
    if (rows.length < PAGE) return;
  }
  const more = await pageOf(call, asked, last).limit(1).execute();
  yield { requests: [], cut: more.length > 0 };
}

const siteOfDevice = () =>
  expressionBuilder<Database, "elevationRequests">()
    .selectFrom("devices")
    .select("devices.siteId")
    .whereRef("devices.id", "=", "elevationRequests.deviceId")
    .whereRef("devices.orgId", "=", "elevationRequests.orgId");

const columns = [
  "id",
  "orgId",
  "deviceId",
  "flowType",
  "status",
  "subjectUsername",
  "targetExecutablePath",
  "targetExecutableHash",
  "targetExecutableSigner",
  "targetExecutableSignerThumbprint",
  "parentImage",
  "commandLine",
  "toolName",
  "riskTier",
  "requestedAt",
] as const;

const select = (db: Reader) =>
  db
    .selectFrom("elevationRequests")
    .select(columns)
    // The caller's own scope: null where the device is out of reach.
    .select([siteOfDevice().as("siteId")]);

type Row = Awaited<ReturnType<ReturnType<typeof select>["execute"]>>[number];

/** By where the device stands today, as the list of requests does: what a call of a tool was about then shows nobody more. */
function pageOf(call: Call, { orgId, siteId, flowType, from }: Asked, last: Row | undefined) {
  let query = select(call.db).where("orgId", "=", orgId).where("requestedAt", ">=", from);
  if (flowType !== undefined) query = query.where("flowType", "=", flowType);
  if (siteId !== null) query = query.where((eb) => eb(siteOfDevice(), "=", siteId));
  if (user(call).allowedSiteIds !== null) query = query.where((eb) => eb(siteOfDevice(), "is not", null));
  if (last) {
    const { requestedAt, id } = last;
    query = query.where((eb) =>
      eb.or([eb("requestedAt", "<", requestedAt), eb.and([eb("requestedAt", "=", requestedAt), eb("id", "<", id)])]),
    );
  }
  return query.orderBy("requestedAt", "desc").orderBy("id", "desc");
}

/** One request of the organization, with whether its device stands at the draft's site; undefined: none that is seen. */
export async function oneRequest(
  call: Call,
  { orgId, siteId, id }: { orgId: string; siteId: string | null; id: string },
): Promise<{ readonly request: Scanned; readonly isAtSite: boolean } | undefined> {
  const row = await select(call.db).where("orgId", "=", orgId).where("id", "=", id).executeTakeFirst();
  if (row === undefined || !isThere(call, { siteId: null }, row)) return undefined;
  return { request: candidateOf(row), isAtSite: isThere(call, { siteId }, row) };
}

function isThere(call: Call, { siteId }: Pick<Asked, "siteId">, row: Row): boolean {
  const allowed = user(call).allowedSiteIds;
  // What is about no device is at no site.
  const isReached = allowed === null || (row.siteId !== null && allowed.includes(row.siteId));
  return isReached && (siteId === null || row.siteId === siteId);
}

/** What is stored of a request: neither directory groups nor the publisher are. */
const candidateOf = (row: Row): Scanned => ({
  ...row,
  subjectGroups: [],
  targetPublisher: null,
  receivedAt: row.requestedAt,
});
