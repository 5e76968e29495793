import type { ExpressionBuilder } from "kysely";
import type { Endpoint } from "#contract/core/endpoint";
import type { apiKeys } from "#contract/resources/credentials/api-keys";
import { getNamedOrg, orgsInList } from "#server/access/org-access";
import { withOrgNames } from "#server/access/place-names";
import { preparedPage } from "#server/db/paginate";
import type { Database } from "#server/db/tables";
import type { Call } from "#server/http/call";
import { apiKeyColumns, view } from "./get-api-key.ts";
import type { ApiKeyStatus } from "./rules.ts";

type ListCall = typeof apiKeys.list extends Endpoint<infer T> ? Call<T> : never;

/** Newest first. */
export async function listApiKeys(call: ListCall) {
  const { orgId, status } = call.query;
  if (orgId !== undefined) await getNamedOrg(call, orgId);
  const now = call.clock.now();
  const page = await pageOf(call.db, call.query, { orgId, now }, { status });
  const shown = page.data.map((row) => view(row, now));
  return { ...page, data: await withOrgNames(call.db, shown) };
}

type Asked = { orgId: string | undefined; now: string };

const pageOf = preparedPage((db, { orgId, now }: Asked, { status }: { status: ApiKeyStatus | undefined }) => {
  let query = db.selectFrom("apiKeys").select(apiKeyColumns).where("apiKeys.orgId", "in", orgsInList(orgId));
  if (status !== undefined) query = query.where((eb) => hasStatus(eb, status, now));
  return query.orderBy("apiKeys.createdAt", "desc").orderBy("apiKeys.id", "desc");
});

/** `statusAt` as a condition. */
function hasStatus(eb: ExpressionBuilder<Database, "apiKeys">, status: ApiKeyStatus, now: string) {
  const stored = eb("apiKeys.status", "=", status);
  if (status === "revoked") return stored;
  const over = eb("apiKeys.expiresAt", "<=", now);
  if (status === "expired") return eb.or([stored, eb.and([eb("apiKeys.status", "=", "active"), over])]);
  return eb.and([stored, eb.or([eb("apiKeys.expiresAt", "is", null), eb("apiKeys.expiresAt", ">", now)])]);
}
