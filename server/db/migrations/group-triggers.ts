import type { DialectName } from "../dialect/index.ts";
import { differs, GONE } from "./export-triggers.ts";

/**
 * The triggers of `202611291937-fleet-group-evaluation`: whoever changes what conditions of groups speak of, it is noted.
 * Of a change that no group of the organization asks for, such as a heartbeat's, nothing is written.
 */

/** Fields of conditions that are columns of devices. Those that time changes are left to the sweep. */
const columns: Readonly<Record<string, string>> = {
  hostname: "hostname",
  displayName: "display_name",
  agentVersion: "agent_version",
  lastUser: "last_user",
  status: "status",
  enrolledAt: "enrolled_at",
  quarantinedAt: "quarantined_at",
  tags: "tags",
  deviceRole: "device_role",
  isHeadless: "is_headless",
  watchdogStatus: "watchdog_status",
  "system.rebootRequired": "pending_reboot",
  osType: "os_type",
  osVersion: "os_version",
  osBuild: "os_build",
  architecture: "architecture",
  lastSeenIp: "last_seen_ip",
};

/** Where it stands, and whether it is in service: every group may have another word on it. */
const placed = ["org_id", "site_id"];
const served = `(old.status = '${GONE}') <> (new.status = '${GONE}')`;

/**
 * What one statement notes comes once. Notes of other transactions do not count: whoever takes them may not see this
 * change yet.
 */
const origin: Record<DialectName, string> = { postgres: "pg_catalog.pg_current_xact_id()::text", sqlite: "''" };

/** Of the fields that groups of the organization ask for, those that `which` picks. */
const note = (dialect: DialectName, row: "old" | "new", device: string, which: string) =>
  `insert into public_.device_group_due (org_id, device_id, field, origin)
    select f.org_id, ${row}.${device}, f.field, ${origin[dialect]} from public_.device_group_fields f
    where f.org_id = ${row}.org_id and (${which}) and not exists (
      select 1 from public_.device_group_due d where d.org_id = f.org_id and d.device_id = ${row}.${device}
        and d.field = f.field and d.origin = ${origin[dialect]} and d.claimed_at is null)`;

const noteAll = (dialect: DialectName) =>
  `insert into public_.device_group_due (org_id, device_id, field, origin)
    select new.org_id, new.id, '*', ${origin[dialect]}
    where exists (select 1 from public_.device_group_fields f where f.org_id = new.org_id)`;

const customValue: Record<DialectName, (row: string) => string> = {
  postgres: (row) => `${row}.custom_fields -> substr(f.field, 8)`,
  sqlite: (row) => `json_extract(${row}.custom_fields, '$.' || substr(f.field, 8))`,
};

const changedColumns = (dialect: DialectName) =>
  [
    ...Object.entries(columns).map(([field, column]) => `f.field = '${field}' and ${differs([column])}`),
    `f.field like 'custom.%' and ${customValue[dialect]("old")} is distinct from ${customValue[dialect]("new")}`,
  ].join("\n      or ");

/** Definitions give devices values that none is stored for. */
const noteDefinition = (row: "old" | "new", dialect: DialectName) =>
  `insert into public_.device_group_due (org_id, field, origin)
    select f.org_id, f.field, ${origin[dialect]} from public_.device_group_fields f
    where f.field = 'custom.' || ${row}.field_key and (f.org_id = ${row}.org_id
      or f.org_id in (select o.id from public_.organizations o where o.partner_id = ${row}.partner_id))`;

interface Watched {
  readonly name: string;
  readonly when: string;
  readonly on?: string;
  readonly does: string;
}

const watchedColumns = [...Object.values(columns), "custom_fields"];
const hardware = ["manufacturer", "model", "serial_number", "cpu_model", "gpu_model", "cpu_cores", "ram_total_mb"];
const addresses = ["ip_address", "public_ip", "mac_address"];

/** Rows of a device: `which` are the fields that they say something of. */
const partOf = (dialect: DialectName, table: string, which: string, fields: readonly string[]): Watched[] => [
  ...(["insert", "delete"] as const).map((event) => ({
    name: `${table}_${event}`,
    when: `after ${event} on ${table}`,
    does: note(dialect, event === "insert" ? "new" : "old", "device_id", which),
  })),
  ...(fields.length === 0
    ? []
    : [
        {
          name: `${table}_update`,
          when: `after update of ${fields.join(", ")} on ${table}`,
          on: differs(fields),
          does: note(dialect, "new", "device_id", which),
        },
      ]),
];

const watched = (dialect: DialectName): Watched[] => [
  { name: "devices_made", when: "after insert on devices", does: noteAll(dialect) },
  {
    name: "devices_placed",
    when: `after update of ${placed.join(", ")}, status on devices`,
    on: `${differs(placed)} or ${served}`,
    does: noteAll(dialect),
  },
  {
    name: "devices_changed",
    when: `after update of ${watchedColumns.join(", ")} on devices`,
    on: differs(watchedColumns),
    does: note(dialect, "new", "id", changedColumns(dialect)),
  },
  ...partOf(dialect, "device_hardware", "f.field like 'hardware.%'", [...hardware, "disk_total_gb"]),
  ...partOf(dialect, "device_interfaces", "f.field like 'network.%'", addresses),
  ...partOf(dialect, "device_software", "f.field like 'software.%'", ["name"]),
  ...partOf(dialect, "device_software_reports", "f.field like 'software.%'", []),
  ...partOf(dialect, "device_patch_reports", "f.field = 'patches.pending'", []),
  ...partOf(dialect, "device_patches", "f.field = 'patches.pending'", ["status"]),
  ...(["insert", "delete"] as const).map((event) => {
    const row = event === "insert" ? ("new" as const) : ("old" as const);
    const which = `f.field = 'groupId:' || ${row}.group_id`;
    const when = `after ${event} on device_group_members`;
    return { name: `device_group_members_${event}`, when, does: note(dialect, row, "device_id", which) };
  }),
  { name: "custom_fields_insert", when: "after insert on custom_fields", does: noteDefinition("new", dialect) },
  { name: "custom_fields_delete", when: "after delete on custom_fields", does: noteDefinition("old", dialect) },
  {
    name: "custom_fields_update",
    when: "after update of default_json, device_types on custom_fields",
    on: differs(["default_json", "device_types"]),
    does: noteDefinition("new", dialect),
  },
];

const definer = "language plpgsql security definer set search_path = pg_catalog, pg_temp";

/** On Postgres functions run as the owner with qualified names, and nobody else may call them. */
const statements: Record<DialectName, (one: Watched) => string[]> = {
  postgres: ({ name, when, on, does }) => [
    `create function public.group_due_${name}() returns trigger ${definer}
      as $$ begin ${does.replaceAll("public_.", "public.")}; return null; end $$`,
    `revoke all on function public.group_due_${name}() from public, rmm_app, rmm_system`,
    `create trigger group_due_${name} ${when.replace(" on ", " on public.")} for each row
      ${on === undefined ? "" : `when (${on})`} execute function public.group_due_${name}()`,
  ],
  sqlite: ({ name, when, on, does }) => [
    `create trigger group_due_${name} ${when} ${on === undefined ? "" : `when ${on}`} begin
      ${does.replaceAll("public_.", "")}; end`,
  ],
};

/** A default may be of some systems alone: another system gives a device another value, or none. */
const systemChanged = (dialect: DialectName): Watched => ({
  name: "devices_system",
  when: "after update of os_type on devices",
  on: differs(["os_type"]),
  does: note(dialect, "new", "id", "f.field like 'custom.%'"),
});

/** The trigger of `202611291958-fleet-group-defaults`. */
export const systemTrigger = (dialect: DialectName): string[] => statements[dialect](systemChanged(dialect));

export const groupTriggers = (dialect: DialectName): string[] => watched(dialect).flatMap(statements[dialect]);
