import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { examineSqlite as ExamineSqlite, InstallationFacts, LoginFacts } from "#server/doctor";
import type { Shell } from "../../shell.ts";
import type { Check } from "./check.ts";
import { allowListsCheck } from "./check-allow-lists.ts";

interface Place {
  dataDir: string;
  databaseUrl: string | undefined;
  systemDatabaseUrl: string | undefined;
  /** `TRUST_PROXY_HEADERS`. */
  trusted: string | undefined;
}

const SKEW_MS = 5_000;

/** Is the database there, up to date, and can the server's role not look past its tenants? */
export async function databaseChecks(shell: Shell, place: Place): Promise<Check[]> {
  const dataDir = resolve(place.dataDir);
  const { databaseUrl } = place;
  const file = databaseUrl?.startsWith("sqlite:") ? databaseUrl.slice("sqlite:".length) : join(dataDir, "rmm.db");
  const postgres = /^postgres(ql)?:/.test(databaseUrl ?? "");
  const { examineDatabase, examineSqlite, troubleOf, trustsClients } = await import("#server/doctor");
  const driver = driverCheck(examineSqlite(), postgres);
  if (driver.status === "fail") return [driver];
  if (!postgres && !existsSync(file)) {
    return [driver, { check: "database", status: "skip", message: `${file} will be made at the first start` }];
  }
  try {
    const facts = await examineDatabase({ ...place, dataDir });
    return [
      driver,
      ...checksOf(shell, facts, postgres ? "Postgres" : `SQLite ${file}`),
      allowListsCheck(facts.allowLists, trustsClients(place.trusted)),
    ];
  } catch (error) {
    const message = (error as Error).message || ((error as NodeJS.ErrnoException).code ?? "cannot be reached");
    return [driver, { check: "database", status: "fail", message, remedy: remedyOf(message, troubleOf(error).remedy) }];
  }
}

/** A server on Postgres runs without the driver; on SQLite it does not even start. */
export function driverCheck(found: ReturnType<typeof ExamineSqlite>, postgres: boolean): Check {
  const check = "sqlite driver";
  if (!("remedy" in found))
    return { check, status: "ok", message: `${found.name} ${found.version} (SQLite ${found.sqlite})` };
  if (postgres) return { check, status: "skip", message: `${found.what}; Postgres does without` };
  return { check, status: "fail", message: found.what, remedy: found.remedy };
}

function checksOf(shell: Shell, facts: InstallationFacts, name: string): Check[] {
  return [
    { check: "database", status: "ok", message: name },
    migrationsCheck(facts.migrations),
    triggersCheck(facts.missingAuditTriggers),
    outboxCheck(facts.missingAuditEntries),
    writesCheck(facts.writes),
    ...wallChecks(facts.walls),
    ...(facts.nowMs === undefined ? [] : [clockCheck(shell.now(), facts.nowMs)]),
  ];
}

const remedyOf = (message: string, usual: string): string =>
  message.includes("pool_mode")
    ? "server/SECURITY.md says which logins the server takes; a pooler is not needed"
    : usual;

function writesCheck(writes: InstallationFacts["writes"]): Check {
  const check = "writes";
  if (writes === undefined) return { check, status: "skip", message: "not tried before every migration is applied" };
  if (writes === "ok") return { check, status: "ok", message: "a row was written and rolled back" };
  return { check, status: "fail", message: writes.what, remedy: writes.remedy };
}

function migrationsCheck(migrations: InstallationFacts["migrations"]): Check {
  const check = "migrations";
  if (migrations === undefined) return { check, status: "skip", message: "the app role may not read their record" };
  const { applied, missing, newer } = migrations;
  if (newer.length > 0) {
    return {
      check,
      status: "fail",
      message: `made by a newer version: ${newer.join(", ")}`,
      remedy: "Update this program",
    };
  }
  if (missing.length === 0) return { check, status: "ok", message: `${applied} applied` };
  return { check, status: "warn", message: `not applied: ${missing.join(", ")}`, remedy: "`rmm server migrate`" };
}

function triggersCheck(missing: InstallationFacts["missingAuditTriggers"]): Check {
  const check = "audit triggers";
  if (missing === undefined) return { check, status: "skip", message: "no audit log yet" };
  if (missing.length === 0) return { check, status: "ok", message: "the audit log refuses changes" };
  return {
    check,
    status: "fail",
    message: `gone or switched off: ${missing.join(", ")}`,
    remedy: "This takes direct access to the database: `rmm audit verify --all` shows what was changed",
  };
}

function outboxCheck(missing: number | undefined): Check {
  const check = "audit outbox";
  if (missing === undefined) return { check, status: "skip", message: "not counted before every migration is applied" };
  if (missing === 0) return { check, status: "ok", message: "every entry that left it is in the log" };
  return {
    check,
    status: "fail",
    message:
      missing > 0
        ? `${missing} entries were removed before they reached the log`
        : `${-missing} entries were slipped in`,
    remedy: "Someone with direct access to the database did this. There is no other copy of those entries",
  };
}

const SETUP = "Give each its own login: server/SECURITY.md, Hardening";

function wallChecks(walls: InstallationFacts["walls"]): Check[] {
  if (walls === undefined)
    return [{ check: "tenant wall", status: "skip", message: "Postgres with every migration has one" }];
  const { tenant, system, scopeIsForgeable } = walls;
  return [
    scopeIsForgeable
      ? {
          check: "tenant wall",
          status: "fail",
          message: "a connection can choose its own scope",
          remedy: "Someone with direct access to the database did this: find out who, and restore rmm_is_system()",
        }
      : { check: "tenant wall", status: "ok", message: "a scope takes the server's signature" },
    loginCheck("tenant login", tenant, tenant.maySystem ? "do the system's work" : undefined),
    loginCheck("system login", system, undefined),
  ];
}

function loginCheck(check: string, login: LoginFacts, more: string | undefined): Check {
  const could = [
    login.bypassesRowSecurity ? "read every row" : undefined,
    login.ownsTables ? "change the schema" : undefined,
    more,
  ].filter((power) => power !== undefined);
  if (could.length === 0)
    return { check, status: "ok", message: `${login.name} can do no more than the server lets it` };
  const message = `whoever has the password of ${login.name}, or one of its connections, could ${could.join(" and ")}`;
  return { check, status: "warn", message, remedy: SETUP };
}

function clockCheck(hereMs: number, thereMs: number): Check {
  const check = "clock and database";
  const skewMs = Math.abs(hereMs - thereMs);
  if (skewMs <= SKEW_MS) return { check, status: "ok", message: `${skewMs} ms apart` };
  const message = `${Math.round(skewMs / 1000)} s apart`;
  return { check, status: "warn", message, remedy: "Use NTP on both machines" };
}
