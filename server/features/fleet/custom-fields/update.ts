import type { Endpoint } from "#contract/core/endpoint";
import type { customFields } from "#contract/resources/fleet/custom-fields";
import { changedFields } from "#server/audit/changed-fields";
import type { Call } from "#server/http/call";
import { invalid, problem } from "#server/problem";
import { writableField } from "./owner.ts";
import { getField } from "./queries.ts";
import { definitionIssues, storedDefault } from "./rules.ts";

type UpdateCall = typeof customFields.update extends Endpoint<infer T> ? Call<T> : never;

/** Values that are stored already are not judged again (docs/fleet.md, "Custom fields"). */
export async function updateField(call: UpdateCall) {
  const { fieldKey, type, ...fields } = call.body;
  return call.transaction(async (tx) => {
    const { ownerId: _, ...before } = await writableField(call, tx, call.params.id);
    for (const [field, given] of Object.entries({ fieldKey, type }))
      if (given !== undefined && given !== before[field as "type"])
        throw problem("FIELD_IMMUTABLE", { details: { field } });
    if (Object.keys(fields).length === 0) throw problem("NO_UPDATES");
    const after = { ...before, ...fields };
    const issues = definitionIssues(after);
    if (issues.length > 0) throw invalid(...issues);
    const { defaultValue: _default, ...columns } = fields;
    await tx
      .updateTable("customFields")
      .set({ ...columns, defaultJson: storedDefault(after), updatedAt: call.clock.now() })
      .where("id", "=", before.id)
      .execute();
    call.audit.note({ details: { changedFields: changedFields(before, fields) } });
    return getField(tx, before.id);
  });
}
