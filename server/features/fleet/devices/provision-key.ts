import type { AccessibleOrg } from "#server/access/org-access";
import type { Tx } from "#server/db/unit-of-work";
import { newEnrollmentKey } from "#server/features/credentials/enrollment-keys/key-hash";
import { decideExpiry, ttlCapMinutes } from "#server/features/credentials/enrollment-keys/rules";
import type { Call } from "#server/http/call";
import { sha256 } from "#server/platform/vault";

const LASTS_MINUTES = 24 * 60;

/**
 * A key with a secret of its own, as it is shown once and as the device keeps it: it is no enrollment key that anybody
 * lists or rotates. The organization's cap shortens it (docs/fleet.md, "Provisioning").
 */
export function mintProvisionKey(call: Pick<Call, "clock" | "config" | "random" | "serverUrl">, org: AccessibleOrg) {
  const { key, keyHash } = newEnrollmentKey(call.config, call.random);
  const enrollmentSecret = call.random.bytes(32).toString("hex");
  const decided = decideExpiry({
    nowMs: call.clock.nowMs(),
    expiresAt: undefined,
    defaultTtlMinutes: LASTS_MINUTES,
    capMinutes: ttlCapMinutes(org.settings),
  });
  if (!("expiresAt" in decided)) throw new Error("a key of the default length was refused");
  const { expiresAt } = decided;
  return {
    enrollment: {
      enrollmentKey: key,
      enrollmentSecret,
      serverUrl: call.serverUrl,
      expiresAt,
      singleUse: true as const,
    },
    stored: {
      provisionKeyHash: keyHash,
      provisionKeyExpiresAt: expiresAt,
      enrollmentSecretHash: sha256(enrollmentSecret),
    },
  };
}

/** The key of a device with its tenant, as enrollment judges keys; used up once the device is not awaited any more. */
export async function findProvisionKey(tx: Tx, hashes: readonly string[]) {
  const row = await tx
    .selectFrom("devices")
    .innerJoin("organizations", "organizations.id", "devices.orgId")
    .innerJoin("partners", "partners.id", "organizations.partnerId")
    .where("devices.provisionKeyHash", "in", hashes)
    .select(["devices.id", "devices.orgId", "devices.siteId", "devices.hostname", "devices.status"])
    .select(["devices.provisionKeyHash", "devices.provisionKeyExpiresAt", "devices.enrollmentSecretHash"])
    .select(["organizations.status as orgStatus", "organizations.deletedAt as orgDeletedAt"])
    .select(["partners.status as partnerStatus", "partners.deletedAt as partnerDeletedAt"])
    .executeTakeFirst();
  if (!row) return undefined;
  const { status, hostname, provisionKeyHash, provisionKeyExpiresAt, ...key } = row;
  return {
    ...key,
    device: { id: row.id, name: hostname },
    keyHash: provisionKeyHash as string,
    expiresAt: provisionKeyExpiresAt as string,
    maxUsage: 1,
    usageCount: status === "pending" ? 0 : 1,
  };
}
