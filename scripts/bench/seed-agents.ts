import type { Kysely } from "kysely";
import { plainDevice } from "#fixtures/nouns/fleet/devices";
import type { Database } from "#server/db/tables";
import { after, DAY } from "#server/platform/clock";
import { sha256 } from "#server/platform/vault";
import type { Services } from "#server/services";

/** What an agent needs to speak. */
export interface SeededAgent {
  readonly agentId: string;
  readonly token: string;
}

interface Place {
  readonly orgId: string;
  readonly siteId: string;
}

const ROWS_MAX = 500;

/** Devices that have enrolled, with commands that wait for each. */
export async function seedAgents(
  db: Kysely<Database>,
  { clock, random }: Pick<Services, "clock" | "random">,
  { orgId, siteId }: Place,
  { count, commands }: { count: number; commands: number },
): Promise<SeededAgent[]> {
  const now = clock.now();
  const agents: SeededAgent[] = [];
  for (let from = 0; from < count; from += ROWS_MAX) {
    const made = Array.from({ length: Math.min(ROWS_MAX, count - from) }, (_, index) => ({
      ...{ id: random.uuid(), agentId: random.bytes(32).toString("hex"), hostname: `machine-${from + index}` },
      token: `agt_${random.bytes(32).toString("hex")}`,
    }));
    const devices = made.map(({ token, ...device }) => ({
      ...{ ...plainDevice(now), ...device, orgId, siteId, agentTokenHash: sha256(token), tokensIssuedAt: now },
    }));
    await db.insertInto("devices").values(devices).execute();
    for (let turn = 0; turn < commands; turn += 1) {
      const rows = made.map(({ id: deviceId, hostname }) => command({ orgId, deviceId, hostname }));
      await db.insertInto("deviceCommands").values(rows).execute();
    }
    agents.push(...made);
  }
  return agents;

  function command(of: { orgId: string; deviceId: string; hostname: string }) {
    return {
      ...{ id: random.uuid(), ...of, type: "lock" as const, payload: {}, payloadSealed: null },
      ...{ status: "pending" as const, targetRole: "agent" as const, originKind: null, originId: null },
      ...{ createdBy: null, queuedAt: now, sentAt: null, completedAt: null, expiresAt: after(now, DAY) },
      ...{ runMs: 300_000, outcome: null, answerSealed: null, updatedAt: now },
    };
  }
}
