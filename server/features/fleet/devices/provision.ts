import type { Endpoint } from "#contract/core/endpoint";
import type { devices } from "#contract/resources/fleet/devices";
import { orgForCreate, refuseSuspended } from "#server/access/org-access";
import { refuseForeignSite } from "#server/access/site-access";
import { writeCredentials } from "#server/access/write-credentials";
import { held, lockText, shared } from "#server/db/dialect/locks";
import { fold } from "#server/db/dialect/text";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { problem, taken } from "#server/problem";
import { refuseOverDeviceCap } from "./caps.ts";
import { insertDevice, type NewDevice } from "./insert-device.ts";
import { mintProvisionKey } from "./provision-key.ts";
import { getDevice } from "./queries.ts";

type ProvisionCall = typeof devices.provision extends Endpoint<infer T> ? Call<T> : never;

/** Adds a device before its agent enrolls, with a key that is for it alone (docs/fleet.md, "Provisioning"). */
export async function provisionDevice(call: ProvisionCall) {
  return call.transaction(async (tx) => {
    const { siteId, hostname } = call.body;
    const id = call.random.uuid();
    const org = await orgForCreate(call, call.body.orgId, tx);
    call.audit.note({
      resource: { type: "device", id, name: hostname },
      owner: { orgId: org.id },
      details: { via: "provision" },
    });
    refuseSuspended(org);
    await refuseForeignSite(call, tx, { orgId: org.id, siteId, code: "SITE_NOT_IN_ORG" });
    call.audit.note({ siteIds: [siteId], details: { siteId } });
    const awaited = await findAwaited(call, tx, org.id);
    const { enrollment, stored } = mintProvisionKey(call, org);
    if (awaited) await renew(call, { ...awaited, stored });
    else await make(call, { id, orgId: org.id, stored });
    call.audit.note({ details: { expiresAt: enrollment.expiresAt } });
    const { orgName: _, ...device } = await getDevice(call, tx, awaited?.id ?? id);
    return { device, enrollment };
  });
}

/**
 * The device of that name that is awaited already. Calls about one site take turns: of two alike one finds the other's.
 * The site is only shared: whoever adds a device holds the caps before it, and this call takes them after it.
 */
async function findAwaited(call: ProvisionCall, tx: Tx, orgId: string) {
  const { siteId, hostname } = call.body;
  const { dialect } = call.services.store;
  await lockText(tx, dialect, `provision:${siteId}`);
  const site = tx.selectFrom("sites").select("id").where("id", "=", siteId);
  if (!(await shared(site, dialect).executeTakeFirst())) throw problem("SITE_NOT_IN_ORG");
  const namesakes = tx
    .selectFrom("devices")
    .select(["id", "status"])
    .where("orgId", "=", orgId)
    .where("siteId", "=", siteId)
    .where((eb) => eb("hostnameKey", "=", fold(eb.val(hostname)) as never))
    .where("status", "<>", "decommissioned")
    .orderBy("id");
  const found = await held(namesakes, dialect).execute();
  if (found.some(({ status }) => status !== "pending")) throw taken("HOSTNAME_TAKEN", hostname);
  return found[0];
}

type Stored = ReturnType<typeof mintProvisionKey>["stored"];

async function make(call: ProvisionCall, { id, orgId, stored }: { id: string; orgId: string; stored: Stored }) {
  const { siteId, hostname, osType, displayName = null, deviceRole, tags = [] } = call.body;
  const now = call.clock.now();
  await call.asSystem("count against caps", (all) => refuseOverDeviceCap(all, call.services, orgId));
  const device: NewDevice = {
    ...{ id, orgId, siteId, hostname, osType, displayName, tags: [...new Set(tags)] },
    ...{ osVersion: "unknown", osBuild: null, architecture: "unknown", agentVersion: "unknown", isVirtual: false },
    deviceRole: deviceRole ?? "unknown",
    deviceRoleSource: deviceRole === undefined ? "auto" : "manual",
    status: "pending",
    ...{ agentId: null, lastSeenAt: null, lastSeenIp: null, enrolledAt: null },
    ...{ agentTokenHash: null, watchdogTokenHash: null, tokensIssuedAt: null },
    ...{ previousAgentTokenHash: null, previousWatchdogTokenHash: null, previousTokensExpireAt: null },
    ...{ enrollmentProof: null, enrollmentProofUntil: null },
    ...stored,
    ...{ createdAt: now, updatedAt: now },
  };
  await writeCredentials(call, (all) => insertDevice(all, device));
}

/** The key before is void; what this call says of the device counts. */
async function renew(call: ProvisionCall, { id, stored }: { id: string; stored: Stored }): Promise<void> {
  const { osType, displayName, deviceRole, tags } = call.body;
  const change = {
    osType,
    ...(displayName === undefined ? {} : { displayName }),
    ...(deviceRole === undefined ? {} : { deviceRole, deviceRoleSource: "manual" as const }),
    ...(tags === undefined ? {} : { tags: [...new Set(tags)] }),
    ...stored,
    updatedAt: call.clock.now(),
  };
  const renewed = await writeCredentials(call, (all) =>
    all.updateTable("devices").set(change).where("id", "=", id).where("status", "=", "pending").executeTakeFirst(),
  );
  if (renewed.numUpdatedRows !== 1n) throw taken("HOSTNAME_TAKEN", call.body.hostname);
  call.audit.note({ action: "device.update", resource: { type: "device", id, name: call.body.hostname } });
  call.foundIt();
}
