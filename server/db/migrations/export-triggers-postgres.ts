import {
  deviceFields,
  deviceTimes,
  differs,
  GONE,
  hardwareFields,
  identityFields,
  interfaceFields,
  isOpen,
  organizationFields,
  siteFields,
} from "./export-triggers.ts";

/**
 * The triggers of `202611281350-credentials-export-changes` on Postgres. Conditions stand in the triggers, not in the
 * functions: a heartbeat that changes nothing exported calls none. Functions run as the owner with qualified names, and
 * nobody else may call them, so that the server's role cannot hang them on a table of its own.
 */
const definer = "language plpgsql security definer set search_path = pg_catalog, pg_temp";
export const declared = "declare at timestamptz := clock_timestamp()::timestamptz(3);";

type Definition = readonly [name: string, parameters: string, body: string];

/** Devices come, go and move, which sets every time of their rows. */
const placedDevices = (times: readonly string[]): Definition => [
  "export_device",
  ") returns trigger",
  `${declared} was boolean := tg_op <> 'INSERT'; exported boolean := tg_op <> 'DELETE'; begin
  if was then was := old.status <> '${GONE}'; end if;
  if exported then exported := new.status <> '${GONE}'; end if;
  if was and not exported then
    perform public.export_leave('device', old.id, at);
  elsif exported and not was then
    insert into public.export_rows
        (kind, id, partner_id, org_id, site_id, first_at, ${times.join(", ")})
      select 'device', new.id, o.partner_id, o.id, new.site_id, at, ${times.map(() => "at").join(", ")}
      from public.organizations o where o.id = new.org_id;
  elsif not exported then
    return null;
  elsif ${differs(["org_id", "site_id"])} then
    insert into public.export_removals (kind, row_id, partner_id, org_id, site_id, first_at, removed_at)
      select r.kind, r.id, r.partner_id, r.org_id, r.site_id, r.first_at, at
      from public.export_rows r where r.kind = 'device' and r.id = new.id;
    update public.export_rows set org_id = new.org_id, site_id = new.site_id,
      partner_id = (select o.partner_id from public.organizations o where o.id = new.org_id),
      ${times.map((time) => `${time} = at`).join(", ")} where kind = 'device' and id = new.id;
  else
    update public.export_rows set changed_at = at where kind = 'device' and id = new.id;
  end if;
  return null;
end`,
];

const functions: readonly Definition[] = [
  [
    // It is exported no more, and remembered as removed from where it was.
    "export_leave",
    "gone_kind text, gone uuid, at timestamptz) returns void",
    `begin
  insert into public.export_removals (kind, row_id, partner_id, org_id, site_id, first_at, removed_at)
    select r.kind, r.id, r.partner_id, r.org_id, r.site_id, r.first_at, at
    from public.export_rows r where r.kind = gone_kind and r.id = gone;
  delete from public.export_rows r where r.kind = gone_kind and r.id = gone;
end`,
  ],
  [
    "export_organization",
    ") returns trigger",
    `${declared} begin
  if tg_op = 'DELETE' then
    perform public.export_leave('organization', old.id, at);
    update public.export_org_reach set reached = false, changed_at = at where org_id = old.id and reached;
    return null;
  end if;
  if tg_op = 'INSERT' then
    insert into public.export_rows (kind, id, partner_id, org_id, first_at, changed_at)
      values ('organization', new.id, new.partner_id, new.id, at, at);
    insert into public.export_org_reach (org_id, partner_id, reached, changed_at)
      values (new.id, new.partner_id, ${isOpen("new")}, at);
    return null;
  end if;
  if ${differs(organizationFields)} then
    update public.export_rows set changed_at = at where kind = 'organization' and id = new.id;
  end if;
  if ${isOpen("old")} <> ${isOpen("new")} then
    update public.export_org_reach set reached = ${isOpen("new")}, changed_at = at where org_id = new.id;
  end if;
  return null;
end`,
  ],
  [
    "export_site",
    ") returns trigger",
    `${declared} begin
  if tg_op = 'DELETE' then
    perform public.export_leave('site', old.id, at);
  elsif tg_op = 'INSERT' then
    insert into public.export_rows (kind, id, partner_id, org_id, site_id, first_at, changed_at)
      select 'site', new.id, o.partner_id, o.id, new.id, at, at from public.organizations o where o.id = new.org_id;
  else
    update public.export_rows set changed_at = at where kind = 'site' and id = new.id;
  end if;
  return null;
end`,
  ],
  placedDevices(deviceTimes),
  [
    // A part of a device; the argument names what shows it: identity, or inventory.
    "export_device_part",
    ") returns trigger",
    `${declared} device uuid; begin
  if tg_op = 'DELETE' then device := old.device_id; else device := new.device_id; end if;
  if tg_argv[0] = 'identity' then
    update public.export_rows set changed_at = at where kind = 'device' and id = device;
  else
    update public.export_rows set inventory_at = at where kind = 'device' and id = device;
  end if;
  return null;
end`,
  ],
  [
    "export_principal",
    ") returns trigger",
    `${declared} begin
  if tg_op = 'DELETE' then
    delete from public.export_principal_reach where principal_id = old.id;
    return null;
  end if;
  insert into public.export_principal_reach as known (principal_id, org_id, partner_id, reached, changed_at)
    select new.id, o.id, o.partner_id, new.org_access = 'all' or exists (
      select from public.partner_service_principal_orgs c where c.principal_id = new.id and c.org_id = o.id), at
    from public.organizations o where o.partner_id = new.partner_id and o.deleted_at is null
    on conflict (principal_id, org_id) do update set reached = excluded.reached, changed_at = excluded.changed_at
      where known.reached <> excluded.reached;
  return null;
end`,
  ],
  [
    "export_principal_org",
    ") returns trigger",
    `${declared} chosen public.partner_service_principal_orgs; begin
  if tg_op = 'DELETE' then chosen := old; else chosen := new; end if;
  perform from public.partner_service_principals p where p.id = chosen.principal_id and p.org_access = 'selected';
  if not found then return null; end if;
  if tg_op = 'DELETE' then
    update public.export_principal_reach set reached = false, changed_at = at
      where principal_id = chosen.principal_id and org_id = chosen.org_id and reached;
  else
    insert into public.export_principal_reach as known (principal_id, org_id, partner_id, reached, changed_at)
      values (chosen.principal_id, chosen.org_id, chosen.partner_id, true, at)
      on conflict (principal_id, org_id) do update set reached = true, changed_at = excluded.changed_at
        where not known.reached;
  end if;
  return null;
end`,
  ],
];

/** Inserts and deletes always count, updates where one of these columns differs. */
export function triggersOf(table: string, calls: string, fields: readonly string[], suffix = ""): string[] {
  const name = `export_${table}${suffix}`;
  return [
    `create trigger ${name}_came after insert or delete on public.${table} for each row execute function public.${calls}`,
    `create trigger ${name}_changed after update of ${fields.join(", ")} on public.${table} for each row
      when ${differs(fields)} execute function public.${calls}`,
  ];
}

const triggers = [
  ...triggersOf("organizations", "export_organization()", [...organizationFields, "status", "deleted_at"]),
  ...triggersOf("sites", "export_site()", siteFields),
  `create trigger export_devices_came after insert or delete on public.devices for each row
    execute function public.export_device()`,
  `create trigger export_devices_changed after update on public.devices for each row
    when (${differs([...deviceFields, "org_id", "site_id"])}
      or (old.status = '${GONE}') <> (new.status = '${GONE}')) execute function public.export_device()`,
  ...triggersOf("device_hardware", "export_device_part('identity')", identityFields, "_identity"),
  ...triggersOf("device_hardware", "export_device_part('inventory')", hardwareFields, "_inventory"),
  ...triggersOf("device_interfaces", "export_device_part('inventory')", interfaceFields),
  `create trigger export_principals_gone after delete on public.partner_service_principals for each row
    execute function public.export_principal()`,
  `create trigger export_principals_changed after update of org_access on public.partner_service_principals for each row
    when ${differs(["org_access"])} execute function public.export_principal()`,
  `create trigger export_principal_orgs_came after insert or delete on public.partner_service_principal_orgs for each row
    execute function public.export_principal_org()`,
];

const signature = (name: string, parameters: string) =>
  `public.${name}(${name === "export_leave" ? "text, uuid, timestamptz" : parameters.slice(0, parameters.indexOf(")"))})`;

export const defined = ([name, parameters, body]: Definition): string[] => [
  `create function public.${name}(${parameters} ${definer} as $$ ${body} $$`,
  `revoke all on function ${signature(name, parameters)} from public, rmm_app, rmm_system`,
];

/** In place of what was defined before. */
export const placedDevicesAnew = (times: readonly string[]): string[] =>
  defined(placedDevices(times)).map((text) => text.replace(/^create function/, "create or replace function"));

export const exportTriggersPostgres: readonly string[] = [
  ...functions.flatMap(defined),
  ...triggers,
  "revoke insert, update, delete on public.export_rows, public.export_org_reach, public.export_principal_reach from rmm_app",
  "revoke insert, update, delete on public.export_removals from rmm_app",
  // Nobody asks for them any more after a while.
  "grant delete on public.export_removals to rmm_system",
];
