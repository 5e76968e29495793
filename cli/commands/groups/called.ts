import type { FilterGroup } from "#contract/core/filters/condition";
import type { DeviceGroupDetail } from "#sdk/generated/models/index";
import type { Context } from "../../context.ts";
import { missingInput, usageError } from "../../errors/cli-error.ts";
import { idByName } from "../../generic/named-rows.ts";
import { isId, namesOf } from "../../generic/names.ts";
import { parseJson } from "../../input/written.ts";
import type { Where } from "../../where/parse.ts";
import { whereFor } from "../../where/read-where.ts";

type Options = Readonly<Record<string, unknown>>;

/** The group of this name or id, and the conditions that it might get, as an expression or as JSON. */
export async function groupCalled(
  context: Context,
  called: string | undefined,
  options: Options,
): Promise<{ group: DeviceGroupDetail; where: Where | undefined }> {
  if (called === undefined) throw missingInput(["<group>"], "`rmm device-groups list` shows those that there are");
  // What is wrong with the expression is told before the server is asked for anything.
  const where = await conditionsIn(context, options);
  const org = context.settings.org.value || undefined;
  const orgId = org === undefined || isId(called) ? undefined : await namesOf(context).orgId(org);
  const none = { orgId, partnerId: undefined, holderId: undefined };
  const id = isId(called) ? called : await idByName(context, "device-group", called, none);
  const client = await context.client();
  const group = await client.deviceGroups.get({ params: { id } }, { signal: context.shell.signal });
  return { group, where };
}

async function conditionsIn(context: Context, { where, filterConditions }: Options): Promise<Where | undefined> {
  if (where !== undefined && filterConditions !== undefined)
    throw usageError("Use either --where or --filter-conditions");
  if (where !== undefined) return whereFor(context, String(where));
  if (filterConditions === undefined) return undefined;
  const filter = parseJson(String(filterConditions), "--filter-conditions") as FilterGroup;
  return { source: "", filter, places: new Map() };
}
