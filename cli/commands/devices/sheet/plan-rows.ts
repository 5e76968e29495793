import { foldName } from "#contract/core/characters";
import type { Context } from "../../../context.ts";
import { usageError } from "../../../errors/cli-error.ts";
import { isId, namesOf } from "../../../generic/names.ts";
import { printable } from "../../../output/escape.ts";
import { stable } from "../../../provisioning/fields.ts";
import type { Wanted } from "../change.ts";
import { type Chosen, listedDevices } from "../chosen.ts";
import { fieldsOfOrgs } from "../custom-values.ts";
import { CUSTOM, plainCell, tagsOf, textCell } from "./cells.ts";
import { slugsOf } from "./export.ts";
import type { SheetRow } from "./read-sheet.ts";
import { customOf, ownOf, refuse, type World } from "./row-values.ts";

/** A device that is not there, as `POST /devices/provision` takes it. */
export interface Missing {
  readonly line: number;
  readonly orgName: string;
  readonly orgId: string;
  readonly siteId: string;
  readonly hostname: string;
  readonly osType: "windows" | "macos" | "linux";
  readonly own: { readonly displayName?: string; readonly deviceRole?: never; readonly tags?: string[] };
  readonly custom: Wanted["custom"];
}

/** What a row asks for, or why it cannot be had. */
export type Planned = { readonly row: SheetRow } & (
  | { readonly wanted: Wanted }
  | { readonly missing: Missing }
  | { readonly failure: unknown }
);

const nameOf = (orgId: string, hostname: string): string => `${orgId} ${foldName(hostname)}`;

/** Compares every row with the devices there are. Devices, sites and fields are read once. */
export async function planRows(
  context: Context,
  rows: readonly SheetRow[],
  { clears, provisions }: Pick<World, "clears" | "provisions">,
): Promise<Planned[]> {
  const devices = await listedDevices({ ...context, settings: withoutOrg(context) }, {});
  const slugs = await slugsOf(context);
  const world: World = {
    names: namesOf(context),
    fields: fieldsOfOrgs(context),
    slugOf: (id) => slugs.get(id) ?? id,
    byId: new Map(devices.map((device) => [device.id, device])),
    byName: grouped(devices),
    taken: new Map(),
    defaultOrg: context.settings.org.value || undefined,
    clears,
    provisions,
  };
  const planned: Planned[] = [];
  for (const row of rows)
    planned.push(await plannedRow(world, row).catch((failure: unknown) => ({ row, failure: failure })));
  return planned;
}

const withoutOrg = ({ settings }: Context): Context["settings"] => ({
  ...settings,
  org: { ...settings.org, value: "" },
});

function grouped(devices: readonly Chosen[]): Map<string, Chosen[]> {
  const all = new Map<string, Chosen[]>();
  for (const device of devices) {
    const key = nameOf(device.orgId, device.hostname);
    all.set(key, [...(all.get(key) ?? []), device]);
  }
  return all;
}

async function plannedRow(world: World, row: SheetRow): Promise<Planned> {
  if (row.refused !== undefined) refuse("row", row.refused);
  const { cells, line } = row;
  const cell = (column: string) => cells.get(column) ?? "";
  const given = cell("org") || world.defaultOrg;
  const orgId = given === undefined ? undefined : await world.names.orgId(given);
  const device = deviceOf(world, row, orgId);
  if (device === undefined) {
    if (!world.provisions) refuse("hostname", `there is no device ${cell("hostname")}`, "--provision adds it");
    return { row, missing: await missingOf(world, row, orgId ?? refuse("org", "is missing")) };
  }
  const before = world.taken.get(device.id);
  if (before !== undefined) refuse("row", `line ${before} is about ${device.hostname} too`);
  world.taken.set(device.id, line);
  if (cell("org") !== "" && orgId !== device.orgId)
    refuse("org", `${device.hostname} belongs to ${world.slugOf(device.orgId)}`, "`rmm devices move` moves a device");
  const changed = [...cells].filter(
    ([column, text]) =>
      !saysSo(textCell(plainCell(device, column, world.slugOf)), text) &&
      !(column === "tags" && sameTags(text, device.tags)) &&
      (text !== "" || world.clears),
  );
  const own: Record<string, unknown> = {};
  const custom: Record<string, string | number | boolean | null> = {};
  for (const [column, text] of changed) {
    if (column.startsWith(CUSTOM)) custom[column.slice(CUSTOM.length)] = await customOf(world, device, column, text);
    else Object.assign(own, await ownOf(world, device.orgId, column, text));
  }
  return { row, wanted: { device, line, own, custom } };
}

/** The order of tags says nothing. */
const sameTags = (text: string, tags: readonly string[]): boolean =>
  stable(tagsOf(text)?.toSorted()) === stable(tags.toSorted());

/** A cell that says what the export says asks for nothing, whatever the way over stdout and a reader made of it. */
const saysSo = (exported: string, text: string): boolean =>
  [exported, printable(exported)].some((one) => one.replaceAll(/\r\n?/g, "\n").trim() === text);

function deviceOf({ byId, byName }: World, { cells }: SheetRow, orgId: string | undefined): Chosen | undefined {
  const [id = "", hostname = ""] = [cells.get("id"), cells.get("hostname")];
  if (id !== "") {
    if (!isId(id)) refuse("id", `${id} is no id of a device`);
    return byId.get(id.toLowerCase()) ?? refuse("id", "there is no device of this id in service");
  }
  if (hostname === "") refuse("hostname", "is empty");
  if (orgId === undefined) refuse("org", "is missing: --org names it for every row");
  const found = byName.get(nameOf(orgId as string, hostname)) ?? [];
  if (found.length > 1)
    refuse("hostname", `${found.length} devices are called ${hostname}: ${found.map((one) => one.id).join(", ")}`);
  return found[0];
}

async function missingOf(world: World, { line, cells }: SheetRow, orgId: string): Promise<Missing> {
  const [hostname, osType] = [cells.get("hostname") ?? "", (cells.get("osType") ?? "").toLowerCase()];
  if (!["windows", "macos", "linux"].includes(osType)) throw usageError("osType: must be windows, macos or linux");
  const site = cells.get("site") || refuse("site", "is missing: a device that is added needs one");
  const all: Record<string, unknown> = {};
  const custom: Record<string, string | number | boolean | null> = {};
  const device = { orgId, hostname, osType: osType as Missing["osType"] };
  for (const [column, text] of cells) {
    if (text === "") continue;
    if (column.startsWith(CUSTOM)) custom[column.slice(CUSTOM.length)] = await customOf(world, device, column, text);
    else Object.assign(all, await ownOf(world, orgId, column, text));
  }
  const siteId = await world.names.siteId(site, orgId);
  const before = world.taken.get(nameOf(orgId, hostname));
  if (before !== undefined) refuse("row", `line ${before} is about ${hostname} too`);
  world.taken.set(nameOf(orgId, hostname), line);
  const { siteId: _, ...own } = all;
  return { ...device, line, siteId, own, custom, orgName: world.slugOf(orgId) };
}
