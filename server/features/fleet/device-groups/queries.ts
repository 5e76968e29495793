import type { Selectable } from "kysely";
import { unseen } from "#server/access/site-access";
import { among } from "#server/db/dialect/json";
import { heldAsParent } from "#server/db/dialect/locks";
import { preparedRows } from "#server/db/prepared";
import type { DeviceGroupsTable } from "#server/db/tables/device-groups";
import type { Reader, Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";

export const groupColumns = [
  "deviceGroups.id",
  "deviceGroups.orgId",
  "deviceGroups.siteId",
  "deviceGroups.name",
  "deviceGroups.description",
  "deviceGroups.type",
  "deviceGroups.filterConditions",
  "deviceGroups.filterFieldsUsed",
  "deviceGroups.parentId",
  "deviceGroups.createdAt",
  "deviceGroups.updatedAt",
] as const;

export type Group = Selectable<DeviceGroupsTable>;

type Seeing = Pick<Call, "who" | "readAsSystem">;

/** A group that the caller reaches: 404 outside its tenant, 403 at another site (docs/conventions.md, "Site rule"). */
export async function getGroup(call: Seeing, db: Reader, id: string): Promise<Group> {
  const row = await db.selectFrom("deviceGroups").selectAll().where("id", "=", id).executeTakeFirst();
  if (!row) throw await unseen(call, "deviceGroups", id);
  return row;
}

/**
 * The same, held until the transaction ends: what changes its members comes one after the other. A device that leaves
 * writes the group's log meanwhile, else each would wait for the other.
 */
export async function holdGroup(call: Seeing & Pick<Call, "services">, tx: Tx, id: string): Promise<Group> {
  const row = tx.selectFrom("deviceGroups").selectAll().where("id", "=", id);
  const group = await heldAsParent(row, call.services.store.dialect).executeTakeFirst();
  if (!group) throw await unseen(call, "deviceGroups", id);
  return group;
}

/** A group as the API shows it. */
export async function shownGroup(db: Reader, id: string) {
  const rows = db.selectFrom("deviceGroups").select([...groupColumns, "lastEvaluatedAt", "lastEvaluationError"]);
  const row = await rows.where("id", "=", id).executeTakeFirst();
  if (!row) throw problem("NOT_FOUND");
  return { ...row, deviceCount: (await countsOf(db, [id])).get(id) ?? 0 };
}

/** Members by group; groups without any are left out. */
export async function countsOf(db: Reader, ids: string[]): Promise<ReadonlyMap<string, number>> {
  if (ids.length === 0) return new Map();
  const rows = await counted(db, { ids }, null);
  return new Map(rows.map(({ groupId, count }) => [groupId, Number(count)]));
}

const counted = preparedRows((db, { ids }: { ids: string[] }) =>
  db
    .selectFrom("deviceGroupMembers")
    .select((eb) => ["groupId", eb.fn.countAll<number>().as("count")])
    .where((eb) => among(db, eb.ref("groupId"), ids))
    .groupBy("groupId"),
);

/** Dynamic groups of organizations that are not gone, with what they speak of; needs an unscoped handle. */
export const dynamicGroups = (db: Reader, narrowed: (query: Dynamic) => Dynamic) =>
  narrowed(dynamicOf(db))
    .select(["deviceGroups.id", "deviceGroups.filterFieldsUsed", "deviceGroups.filterGroupIds"])
    .execute();

/** What an evaluation begins with: conditions may be long, so each group is read when it is its turn. */
export const findEvaluable = (db: Reader, id: string): Promise<Evaluable | undefined> =>
  dynamicOf(db)
    .where("deviceGroups.id", "=", id)
    .select(["deviceGroups.id", "deviceGroups.orgId", "deviceGroups.siteId", "deviceGroups.name"])
    .select(["deviceGroups.filterConditions", "deviceGroups.filterVersion", "deviceGroups.createdBy"])
    .executeTakeFirst();

export type Evaluable = Pick<
  Group,
  "id" | "orgId" | "siteId" | "name" | "filterConditions" | "filterVersion" | "createdBy"
>;

const dynamicOf = (db: Reader) =>
  db
    .selectFrom("deviceGroups")
    .innerJoin("organizations", "organizations.id", "deviceGroups.orgId")
    .where("organizations.deletedAt", "is", null)
    .where("organizations.status", "<>", "purging")
    .where("deviceGroups.type", "=", "dynamic");

type Dynamic = ReturnType<typeof dynamicOf>;
