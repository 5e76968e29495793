import { plainDevice } from "#fixtures/nouns/fleet/devices";
import type { DeviceRecord } from "#fixtures/simulators/agent/device";
import { sha256 } from "#server/platform/vault";
import { makeSite } from "../enroll.ts";
import type { Installation } from "../fault/processes.ts";
import { seedPartner, signIn } from "../harness.ts";

const ROWS_MAX = 500;

export interface SeededFleet {
  readonly token: string;
  readonly records: readonly DeviceRecord[];
}

/** Devices that have enrolled, with what their agents know of it, and somebody who may send them commands. */
export async function seedFleet(installation: Installation, count: number): Promise<SeededFleet> {
  const { random, clock } = installation.services;
  const now = clock.now();
  const { partnerId, orgIds } = await seedPartner(installation, "fleet", ["one", "two", "three", "four"]);
  const sites = await Promise.all(
    orgIds.map(async (orgId) => ({ orgId, siteId: await makeSite(installation, orgId) })),
  );
  const token = () => `agt_${random.bytes(32).toString("hex")}`;
  const machines = Array.from({ length: count }, (_, index) => {
    const place = sites[index % sites.length] as (typeof sites)[number];
    const agentId = random.bytes(32).toString("hex");
    return { index, ...place, agentId, deviceId: random.uuid(), agentToken: token(), watchdogToken: token() };
  });
  for (let from = 0; from < count; from += ROWS_MAX) {
    const rows = machines.slice(from, from + ROWS_MAX).map((one) => ({
      ...plainDevice(now),
      ...{ id: one.deviceId, orgId: one.orgId, siteId: one.siteId, agentId: one.agentId },
      ...{ hostname: `machine-${one.index}`, tokensIssuedAt: now },
      ...{ agentTokenHash: sha256(one.agentToken), watchdogTokenHash: sha256(one.watchdogToken) },
    }));
    await installation.db.insertInto("devices").values(rows).execute();
  }
  const records = machines.map(({ index, ...identity }) => ({
    ...{ index, nonce: random.bytes(32).toString("hex"), bootedAtMs: clock.nowMs(), identity },
  }));
  return { token: (await signIn(installation, { role: "Partner Admin", partnerId })).token, records };
}
