import type { Endpoint } from "#contract/core/endpoint";
import type { agents } from "#contract/resources/fleet/agents";
import { holdOrganization } from "#server/access/hold-organization";
import { ZERO_UUID } from "#server/audit/chain";
import type { Tx } from "#server/db/unit-of-work";
import { enrollmentKeyHashes } from "#server/features/credentials/enrollment-keys/key-hash";
import { findProvisionKey } from "#server/features/fleet/devices/provision-key";
import type { Call } from "#server/http/call";
import { sameText, sha256 } from "#server/platform/vault";
import { problem } from "#server/problem";

export type EnrollCall = typeof agents.enroll extends Endpoint<infer T> ? Call<T> : never;

/**
 * The enrollment key with its tenant, after every check that depends on them alone: known, not expired, not used up,
 * second secret, tenant active (docs/fleet.md, "Enrollment"). Once the key is known, a refusal is recorded in the
 * organization's chain; an unknown key has no tenant and is only counted.
 */
export async function admit(call: EnrollCall, tx: Tx) {
  const key = await find(call, tx);
  if (!key) throw problem("ENROLLMENT_KEY_NOT_FOUND");
  call.audit.note({
    owner: { orgId: key.orgId },
    actor: { type: "agent", id: ZERO_UUID },
    siteIds: [key.siteId],
    ...(key.device === null ? {} : { resource: { type: "device", ...key.device } }),
    details: {
      ...(key.device === null ? { enrollmentKeyId: key.id } : { provisioned: true }),
      hostname: call.body.hostname,
      osType: call.body.osType,
    },
  });
  if (key.expiresAt <= call.clock.now()) throw problem("ENROLLMENT_KEY_EXPIRED");
  if (key.maxUsage !== null && key.usageCount >= key.maxUsage) throw problem("ENROLLMENT_KEY_EXHAUSTED");
  checkSecret(call, key.enrollmentSecretHash);
  refuseClosedTenant({ ...key, ...(await holdOrganization(tx, call.services, key.orgId)) });
  return key;
}

interface TenantStatus {
  readonly orgStatus: string;
  readonly orgDeletedAt: string | null;
  readonly partnerStatus: string;
  readonly partnerDeletedAt: string | null;
}

export function refuseClosedTenant({ orgStatus, orgDeletedAt, partnerStatus, partnerDeletedAt }: TenantStatus): void {
  if (orgStatus === "offboarding" && orgDeletedAt === null) throw problem("TENANT_OFFBOARDING");
  const orgOpen = orgDeletedAt === null && (orgStatus === "active" || orgStatus === "trial");
  const partnerOpen = partnerDeletedAt === null && partnerStatus === "active";
  if (!orgOpen || !partnerOpen) throw problem("TENANT_INACTIVE");
}

export type AdmittingKey = Awaited<ReturnType<typeof admit>>;

/** It may be the key of one awaited device. */
async function find(call: EnrollCall, tx: Tx) {
  const candidates = enrollmentKeyHashes(call.config, call.body.enrollmentKey);
  const key = await tx
    .selectFrom("enrollmentKeys")
    .innerJoin("organizations", "organizations.id", "enrollmentKeys.orgId")
    .innerJoin("partners", "partners.id", "organizations.partnerId")
    .where("enrollmentKeys.keyHash", "in", candidates)
    .select([
      "enrollmentKeys.id",
      "enrollmentKeys.orgId",
      "enrollmentKeys.siteId",
      "enrollmentKeys.keyHash",
      "enrollmentKeys.enrollmentSecretHash",
      "enrollmentKeys.maxUsage",
      "enrollmentKeys.usageCount",
      "enrollmentKeys.expiresAt",
      "organizations.status as orgStatus",
      "organizations.deletedAt as orgDeletedAt",
      "partners.status as partnerStatus",
      "partners.deletedAt as partnerDeletedAt",
    ])
    .executeTakeFirst();
  return key ? { ...key, device: null } : findProvisionKey(tx, candidates);
}

/** The key's own secret, else the server's; in production one of them must exist (docs/fleet.md, "Enrollment"). */
export function checkSecret(call: EnrollCall, keySecretHash: string | null): void {
  const { agentEnrollmentSecret, production } = call.config;
  const wanted = keySecretHash ?? (agentEnrollmentSecret === undefined ? undefined : sha256(agentEnrollmentSecret));
  if (wanted === undefined) {
    if (production) throw problem("ENROLLMENT_SECRET_REQUIRED");
    return;
  }
  const given = call.body.enrollmentSecret ?? call.header("x-agent-enrollment-secret");
  if (given === undefined || given === "") throw problem("ENROLLMENT_SECRET_REQUIRED");
  if (!sameText(sha256(given), wanted)) throw problem("ENROLLMENT_SECRET_INVALID");
}
