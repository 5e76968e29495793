import type { Command } from "commander";
import type { DeviceListItem } from "#sdk/generated/models/index";
import type { Context } from "../../context.ts";
import { missingInput, usageError } from "../../errors/cli-error.ts";
import { commandsOf } from "../../generic/commands-of.ts";
import { fieldValue } from "../../generic/field-value.ts";
import { rowByName } from "../../generic/named-rows.ts";
import { isId, namesOf } from "../../generic/names.ts";
import { inParallel } from "../../provisioning/in-parallel.ts";
import { addWhere, type WhereOption } from "../../where/option.ts";
import { conditionsOf, matchReader } from "./matching.ts";

/** A device as lists have it. */
export type Chosen = DeviceListItem;

/** Flags that choose devices; `--org`, `--site` and `--all` are global. */
export interface ChoiceOptions extends WhereOption {
  readonly tag?: string;
  readonly status?: string;
  readonly osType?: string;
  readonly role?: string;
  readonly search?: string;
}

export const addChoice = (command: Command): Command =>
  addWhere(command)
    .option("--tag <tag>", "those with this tag")
    .option("--status <status>", "those of this status: online, offline …")
    .option("--os-type <system>", "those of this operating system: windows, macos, linux")
    .option("--role <role>", "those of this role: workstation, server …")
    .option("--search <text>", "those with this in their hostname or display name");

/** The devices that are named, or those that the flags choose. Without either, none: `--all` says that all are meant. */
export async function chosenDevices(
  context: Context,
  called: readonly string[],
  options: ChoiceOptions,
): Promise<Chosen[]> {
  const { org, site, all } = context.globals;
  const { where, tag, status, osType, role, search } = options;
  const filtered = all || [site, where, tag, status, osType, role, search].some((one) => one !== undefined);
  if (called.length > 0 && filtered) throw usageError("Either name devices, or choose them by flags");
  if (called.length > 0) return namedDevices(context, called);
  if (!filtered && org === undefined)
    throw missingInput(["devices by name"], "Or choose them: --where, --org, --site, --tag …; --all for all of them");
  return listedDevices(context, options);
}

/** An unknown name, or one that several devices have, ends the run before anything is sent. */
export async function namedDevices(context: Context, called: readonly string[]): Promise<Chosen[]> {
  const { signal } = context.shell;
  const client = await context.client();
  const named = context.settings.org.value || undefined;
  const byName = called.some((one) => !isId(one));
  const orgId = named === undefined || !byName ? undefined : await namesOf(context).orgId(named);
  const none = { orgId, partnerId: undefined, holderId: undefined };
  const rows = await inParallel([...new Set(called)], async (one) =>
    isId(one)
      ? ((await client.devices.get({ params: { id: one } }, { signal })) as Chosen)
      : ((await rowByName(context, "device", one, none)) as unknown as Chosen),
  );
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}

/** All that the flags choose: every page of the list, whatever its length. */
export const listedDevices = async (context: Context, options: ChoiceOptions): Promise<Chosen[]> =>
  (await deviceReader(context, options))();

/** Reads them, as often as one likes: names in the flags are looked up once. With what waits for each where asked for. */
export async function deviceReader(
  context: Context,
  options: ChoiceOptions,
  more: { readonly pending?: true } = {},
): Promise<() => Promise<Chosen[]>> {
  const flags = await queryOf(context, options);
  if (options.where !== undefined) return matchReader(context, options.where, conditionsOf(flags, options.tag), more);
  const { signal } = context.shell;
  const client = await context.client();
  const pending = more.pending ? { includePending: "true" as const } : {};
  const query = { ...flags, ...pending, sort: "hostname" as const, limit: "1000" };
  return async () => {
    const rows = await client.devices.list({ query }, { signal }).toArray();
    return options.tag === undefined ? rows : rows.filter(({ tags }) => tags.includes(options.tag as string));
  };
}

export async function queryOf(context: Context, options: ChoiceOptions): Promise<Record<string, string>> {
  const fields = (await commandsOf("devices")).find(({ name }) => name === "list")!.query;
  const named = (["status", "osType", "role", "search"] as const).flatMap((name) => {
    const field = fields.find((one) => one.name === name)!;
    const text = options[name];
    if (text === undefined) return [];
    return [[name, fieldValue(field, text, { source: `--${field.flag}`, nowMs: 0, where: "query" })]];
  });
  const names = namesOf(context);
  const org = context.settings.org.value;
  const orgId = org ? await names.orgId(org) : undefined;
  const { site } = context.globals;
  const siteId = site === undefined ? undefined : await names.siteId(site, orgId);
  return { ...Object.fromEntries(named), ...(orgId && { orgId }), ...(siteId && { siteId }) };
}

const NAMED_MAX = 5;

/** `12 devices (till-1, till-2, …) of Contoso Dental`; the customers by name where there are few. */
export function devicesText(devices: readonly Chosen[]): string {
  const few = (all: readonly string[]) =>
    [...all.slice(0, NAMED_MAX), ...(all.length > NAMED_MAX ? ["…"] : [])].join(", ");
  const customers = [...new Set(devices.map(({ orgName, orgId }) => orgName ?? orgId))];
  const names = few(devices.map(({ hostname }) => hostname));
  const what = devices.length === 1 ? names : `${devices.length} devices (${names})`;
  return `${what} of ${customers.length === 1 ? "" : `${customers.length} customers: `}${few(customers)}`;
}
