import type { NewNoun, NounNames } from "./names.ts";

const callType = ({ key }: NounNames, verb: string, name: string): string =>
  `type ${name}Call = typeof ${key}.${verb} extends Endpoint<infer T> ? Call<T> : never;`;

export const routesFile = (names: NounNames, { area, noun }: NewNoun): string => `\
import { ${names.key} } from "#contract/resources/${area}/${noun}";
import { implement } from "#server/http/implement";
import { create${names.shape} } from "./create.ts";
import { list${names.plural} } from "./list.ts";
import { get${names.shape} } from "./queries.ts";
import { remove${names.shape} } from "./remove.ts";
import { update${names.shape} } from "./update.ts";

export const routes = implement(${names.key}, {
  list: list${names.plural},
  create: create${names.shape},
  get: (call) => get${names.shape}(call.db, call.params.id),
  update: update${names.shape},
  remove: remove${names.shape},
});
`;

export const listFile = (names: NounNames, { area, noun }: NewNoun): string => `\
import type { Endpoint } from "#contract/core/endpoint";
import type { ${names.key} } from "#contract/resources/${area}/${noun}";
import { getNamedOrg, orgsInList } from "#server/access/org-access";
import { preparedPage } from "#server/db/paginate";
import type { Call } from "#server/http/call";
import { ${names.one}Columns } from "./queries.ts";

${callType(names, "list", "List")}

/** Newest first. */
export async function list${names.plural}(call: ListCall) {
  const { orgId } = call.query;
  if (orgId !== undefined) await getNamedOrg(call, orgId);
  return pageOf(call.db, call.query, { orgId }, null);
}

const pageOf = preparedPage((db, { orgId }: { orgId: string | undefined }) =>
  db
    .selectFrom("${names.key}")
    .select(${names.one}Columns)
    .where("${names.key}.orgId", "in", orgsInList(orgId))
    .orderBy("${names.key}.createdAt", "desc")
    .orderBy("${names.key}.id", "desc"),
);
`;

export const createFile = (names: NounNames, { area, noun }: NewNoun): string => `\
import type { Endpoint } from "#contract/core/endpoint";
import type { ${names.key} } from "#contract/resources/${area}/${noun}";
import { orgForCreate, refuseSiteRestricted } from "#server/access/org-access";
import type { Call } from "#server/http/call";
import { get${names.shape} } from "./queries.ts";

${callType(names, "create", "Create")}

export async function create${names.shape}(call: CreateCall) {
  refuseSiteRestricted(call);
  return call.transaction(async (tx) => {
    const { name } = call.body;
    const org = await orgForCreate(call, call.body.orgId, tx);
    const id = call.random.uuid();
    call.audit.note({ resource: { id, name }, owner: { orgId: org.id } });
    const now = call.clock.now();
    await tx
      .insertInto("${names.key}")
      .values({ id, orgId: org.id, name, createdAt: now, updatedAt: now })
      .execute();
    return get${names.shape}(tx, id);
  });
}
`;

export const updateFile = (names: NounNames, { area, noun }: NewNoun): string => `\
import type { Endpoint } from "#contract/core/endpoint";
import type { ${names.key} } from "#contract/resources/${area}/${noun}";
import { getWritableOrg, refuseSiteRestricted } from "#server/access/org-access";
import { changedFields } from "#server/audit/changed-fields";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { get${names.shape} } from "./queries.ts";

${callType(names, "update", "Update")}

/** Omitted fields keep their values. */
export async function update${names.shape}(call: UpdateCall) {
  refuseSiteRestricted(call);
  return call.transaction(async (tx) => {
    const before = await get${names.shape}(tx, call.params.id);
    call.audit.note({ resource: { id: before.id, name: before.name }, owner: { orgId: before.orgId } });
    await getWritableOrg(call, before.orgId, tx);
    if (Object.keys(call.body).length === 0) throw problem("NO_UPDATES");
    const changed = await tx
      .updateTable("${names.key}")
      .set({ ...call.body, updatedAt: call.clock.now() })
      .where("id", "=", before.id)
      .executeTakeFirst();
    if (changed.numUpdatedRows !== 1n) throw problem("NOT_FOUND");
    call.audit.note({ details: { changedFields: changedFields(before, call.body) } });
    return get${names.shape}(tx, before.id);
  });
}
`;

export const removeFile = (names: NounNames, { area, noun }: NewNoun): string => `\
import type { Endpoint } from "#contract/core/endpoint";
import type { ${names.key} } from "#contract/resources/${area}/${noun}";
import { getWritableOrg, refuseSiteRestricted } from "#server/access/org-access";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { get${names.shape} } from "./queries.ts";

${callType(names, "remove", "Remove")}

export async function remove${names.shape}(call: RemoveCall) {
  refuseSiteRestricted(call);
  return call.transaction(async (tx) => {
    const found = await get${names.shape}(tx, call.params.id);
    call.audit.note({ resource: { id: found.id, name: found.name }, owner: { orgId: found.orgId } });
    await getWritableOrg(call, found.orgId, tx);
    const removed = await tx.deleteFrom("${names.key}").where("id", "=", found.id).executeTakeFirst();
    if (removed.numDeletedRows !== 1n) throw problem("NOT_FOUND");
    return { success: true as const };
  });
}
`;

export const queriesFile = (names: NounNames): string => `\
import type { Reader } from "#server/db/unit-of-work";
import { problem } from "#server/problem";

export const ${names.one}Columns = [
  "${names.key}.id",
  "${names.key}.orgId",
  "${names.key}.name",
  "${names.key}.createdAt",
  "${names.key}.updatedAt",
] as const;

/** NOT_FOUND, also for another tenant's. */
export async function get${names.shape}(db: Reader, id: string) {
  const row = await db
    .selectFrom("${names.key}")
    .innerJoin("organizations", "organizations.id", "${names.key}.orgId")
    .select(${names.one}Columns)
    .where("${names.key}.id", "=", id)
    .executeTakeFirst();
  if (!row) throw problem("NOT_FOUND");
  return row;
}
`;
