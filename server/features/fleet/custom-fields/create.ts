import type { Endpoint } from "#contract/core/endpoint";
import type { customFields } from "#contract/resources/fleet/custom-fields";
import { type Owner, ownerColumns } from "#server/access/owner-rule";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { invalid, problem } from "#server/problem";
import { ownerOfNew } from "./owner.ts";
import { getField } from "./queries.ts";
import { definitionIssues, storedDefault } from "./rules.ts";

type CreateCall = typeof customFields.create extends Endpoint<infer T> ? Call<T> : never;

/** Definitions of one owner. */
export const FIELDS_MAX = 200;

/** Defines a field of an organization's devices, or of a whole partner's (docs/fleet.md, "Custom fields"). */
export async function createField(call: CreateCall) {
  const { name, fieldKey, type, options, required, defaultValue, deviceTypes } = call.body;
  const issues = definitionIssues({ type, options, defaultValue });
  if (issues.length > 0) throw invalid(...issues);
  return call.transaction(async (tx) => {
    const owner = await ownerOfNew(call, tx);
    const id = call.random.uuid();
    const now = call.clock.now();
    call.audit.note({ resource: { id, name }, details: { fieldKey, type } });
    await refuseTaken(tx, owner, fieldKey);
    await refuseOverLimit(tx, owner);
    const defaultJson = storedDefault({ type, options, defaultValue });
    const row = {
      id,
      ...ownerColumns(owner),
      name,
      fieldKey,
      type,
      options,
      required,
      defaultJson,
      deviceTypes,
    };
    await tx
      .insertInto("customFields")
      .values({ ...row, createdAt: now, updatedAt: now })
      .execute();
    return getField(tx, id);
  });
}

/** A key is unique across an organization and its partner, a partner's across all its organizations. */
async function refuseTaken(tx: Tx, { orgId, partnerId }: Owner, fieldKey: string): Promise<void> {
  const named = tx.selectFrom("customFields").select("id").where("fieldKey", "=", fieldKey);
  const organizations = tx.selectFrom("organizations").select("id").where("partnerId", "=", partnerId);
  const [shared, own] = await Promise.all([
    named.where("partnerId", "=", partnerId).executeTakeFirst(),
    orgId === null
      ? named.where("orgId", "in", organizations).executeTakeFirst()
      : named.where("orgId", "=", orgId).executeTakeFirst(),
  ]);
  if (shared || own)
    throw problem("DUPLICATE", { message: `There is a custom field ${fieldKey} already`, details: { fieldKey } });
}

async function refuseOverLimit(tx: Tx, { orgId, partnerId }: Owner): Promise<void> {
  const all = tx.selectFrom("customFields").select((eb) => eb.fn.countAll<number>().as("count"));
  const own = orgId === null ? all.where("partnerId", "=", partnerId) : all.where("orgId", "=", orgId);
  const { count } = await own.executeTakeFirstOrThrow();
  if (Number(count) >= FIELDS_MAX) throw problem("LIMIT_REACHED", { details: { max: FIELDS_MAX } });
}
