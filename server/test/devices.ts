import type { Insertable } from "kysely";
import type { Database } from "#server/db/tables";
import type { Behind } from "./harness.ts";

type DeviceFields = Partial<Insertable<Database["devices"]>> & { orgId: string };

/** Rows in one statement: SQLite takes 32,766 parameters. */
const ROWS_MAX = 500;

/** Devices made behind the API; what is not given is plain. */
export async function makeDevices(server: Behind, rows: readonly DeviceFields[]): Promise<string[]> {
  const { random, clock } = server.services;
  const now = clock.now();
  const full = rows.map((row, index) => ({
    id: random.uuid(),
    siteId: null,
    agentId: random.bytes(32).toString("hex"),
    hostname: `pc-${index}`,
    displayName: null,
    osType: "windows" as const,
    osVersion: "11",
    osBuild: null,
    architecture: "x64",
    agentVersion: "1.0.0",
    deviceRole: "workstation" as const,
    deviceRoleSource: "auto" as const,
    isVirtual: false,
    status: "online" as const,
    lastSeenAt: now,
    lastSeenIp: null,
    enrolledAt: now,
    tags: [],
    customFields: {},
    lastUser: null,
    uptimeSeconds: null,
    isHeadless: false,
    pendingReboot: false,
    watchdogStatus: null,
    watchdogVersion: null,
    watchdogSeenAt: null,
    mainAgentSilentSince: null,
    maintenanceUntil: null,
    quarantinedAt: null,
    quarantinedReason: null,
    agentTokenHash: null,
    watchdogTokenHash: null,
    previousAgentTokenHash: null,
    previousWatchdogTokenHash: null,
    previousTokensExpireAt: null,
    tokensIssuedAt: null,
    createdAt: now,
    updatedAt: now,
    ...row,
  }));
  for (let from = 0; from < full.length; from += ROWS_MAX) {
    await server.db
      .insertInto("devices")
      .values(full.slice(from, from + ROWS_MAX))
      .execute();
  }
  return full.map((row) => row.id);
}
