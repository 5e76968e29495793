import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { DatabaseFacts } from "#server/doctor";
import type { Shell } from "../../shell.ts";
import type { Check } from "./check.ts";

interface Place {
  dataDir: string;
  databaseUrl: string | undefined;
}

const SKEW_MS = 5_000;

/** Is the database there, up to date, and can the server's role not look past its tenants? */
export async function databaseChecks(shell: Shell, place: Place): Promise<Check[]> {
  const dataDir = resolve(place.dataDir);
  const { databaseUrl } = place;
  const file = databaseUrl?.startsWith("sqlite:") ? databaseUrl.slice("sqlite:".length) : join(dataDir, "rmm.db");
  const postgres = /^postgres(ql)?:/.test(databaseUrl ?? "");
  if (!postgres && !existsSync(file)) {
    return [{ check: "database", status: "skip", message: `${file} will be made at the first start` }];
  }
  const { examineDatabase } = await import("#server/doctor");
  try {
    return checksOf(shell, await examineDatabase({ databaseUrl, dataDir }), postgres ? "Postgres" : `SQLite ${file}`);
  } catch (error) {
    const message = (error as Error).message || ((error as NodeJS.ErrnoException).code ?? "cannot be reached");
    return [
      { check: "database", status: "fail", message, remedy: "Check DATABASE_URL, and that the database is running" },
    ];
  }
}

function checksOf(shell: Shell, facts: DatabaseFacts, name: string): Check[] {
  return [
    { check: "database", status: "ok", message: name },
    migrationsCheck(facts.migrations),
    triggersCheck(facts.missingAuditTriggers),
    roleCheck(facts.role),
    ...(facts.nowMs === undefined ? [] : [clockCheck(shell.now(), facts.nowMs)]),
  ];
}

function migrationsCheck(migrations: DatabaseFacts["migrations"]): Check {
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
  return { check, status: "warn", message: `not applied: ${missing.join(", ")}`, remedy: "rmm server migrate" };
}

function triggersCheck(missing: DatabaseFacts["missingAuditTriggers"]): Check {
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

function roleCheck(role: DatabaseFacts["role"]): Check {
  const check = "app role";
  if (role === undefined) return { check, status: "skip", message: "SQLite has no roles" };
  if (!role.bypassesRowSecurity) {
    return { check, status: "ok", message: `${role.name} cannot bypass row-level security` };
  }
  return {
    check,
    status: "fail",
    message: `${role.name} can bypass row-level security`,
    remedy: "Run `rmm server migrate`, and do not make the app role a superuser",
  };
}

function clockCheck(hereMs: number, thereMs: number): Check {
  const check = "clock and database";
  const skewMs = Math.abs(hereMs - thereMs);
  if (skewMs <= SKEW_MS) return { check, status: "ok", message: `${skewMs} ms apart` };
  const message = `${Math.round(skewMs / 1000)} s apart`;
  return { check, status: "warn", message, remedy: "Use NTP on both machines" };
}
