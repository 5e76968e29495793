import { CliError } from "../../../errors/cli-error.ts";
import { commandsOf } from "../../../generic/commands-of.ts";
import { fieldValue } from "../../../generic/field-value.ts";
import type { Names } from "../../../generic/names.ts";
import type { Chosen } from "../chosen.ts";
import { customValueOf, type Fields, fieldFor } from "../custom-values.ts";
import { CUSTOM, tagsOf } from "./cells.ts";

/** What rows are compared with. */
export interface World {
  readonly names: Names;
  readonly fields: (orgId: string) => Promise<Fields>;
  readonly slugOf: (orgId: string) => string;
  readonly byId: ReadonlyMap<string, Chosen>;
  readonly byName: ReadonlyMap<string, readonly Chosen[]>;
  readonly taken: Map<string, number>;
  readonly defaultOrg: string | undefined;
  readonly clears: boolean;
  readonly provisions: boolean;
}

/** Names the column of a row that cannot be done. */
export const refuse = (column: string, why: string, hint?: string): never => {
  throw new CliError(`${column}: ${why}`, { exit: "failure", code: "ROW_REFUSED", hint });
};

export async function customOf(
  { fields, clears }: Pick<World, "fields" | "clears">,
  device: Pick<Chosen, "orgId" | "osType" | "hostname">,
  column: string,
  text: string,
): Promise<string | number | boolean | null> {
  const field = fieldFor(await fields(device.orgId), column.slice(CUSTOM.length), device);
  if (text !== "") return customValueOf(field, text);
  return field.required && clears ? refuse(column, "is required: its value cannot be taken away") : null;
}

export async function ownOf(
  { names }: Pick<World, "names">,
  orgId: string,
  column: string,
  text: string,
): Promise<Record<string, unknown>> {
  if (column === "displayName") return { displayName: text === "" ? null : text };
  if (column === "tags") return { tags: tagsOf(text) ?? refuse("tags", "must be texts with commas, or a JSON list") };
  if (text === "") return {};
  if (column === "site") return { siteId: await names.siteId(text, orgId) };
  if (column !== "deviceRole") return {};
  const spec = (await commandsOf("devices")).find(({ name }) => name === "update")!;
  const field = spec.body.find(({ name }) => name === "deviceRole")!;
  return { deviceRole: fieldValue(field, text, { source: column, nowMs: 0, where: "body" }) };
}
