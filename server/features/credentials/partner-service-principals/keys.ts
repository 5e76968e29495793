import type { Insertable } from "kysely";
import type { Endpoint } from "#contract/core/endpoint";
import type { partnerServicePrincipals } from "#contract/resources/credentials/partner-service-principals";
import { user } from "#server/access/principal";
import { writeCredentials } from "#server/access/write-credentials";
import type { PartnerServicePrincipalKeysTable } from "#server/db/tables/credentials";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { sha256 } from "#server/platform/vault";
import { problem } from "#server/problem";
import { refusePast } from "./checks.ts";
import { holdPrincipal, type PrincipalRow } from "./queries.ts";
import { refuseBeyondOwn } from "./rules.ts";

type Verbs = typeof partnerServicePrincipals;
type CallOf<V extends keyof Verbs> = Verbs[V] extends Endpoint<infer T> ? Call<T> : never;

const PREFIX_LENGTH = 18;

/** Makes a key of an active principal; several may be active. Its material is in this answer and nowhere else. */
export async function issueKey(call: CallOf<"issueKey">) {
  return call.transaction(async (tx) => {
    const principal = await holdActive(call, tx, call.params.id);
    refusePast(call, call.body.expiresAt);
    const { rateLimit = null } = call.body;
    const minted = await insertKey(call, principal, { ...call.body, rateLimit, rotatedFromId: null });
    call.audit.note({ details: { keyId: minted.keyId, keyPrefix: minted.keyPrefix } });
    return minted;
  });
}

/** A new key with the old one's name, limit and end. From this commit on the old one is refused. */
export async function rotateKey(call: CallOf<"rotateKey">) {
  return call.transaction(async (tx) => {
    const principal = await holdActive(call, tx, call.params.id);
    const old = await getKey(tx, principal.id, call.params.keyId);
    if (!(await revoke(call, old.id))) throw problem("INVALID_STATE", { details: { status: "revoked" } });
    // Of a revoked key its state is told, whether or not it would have ended by now.
    refusePast(call, old.expiresAt);
    const { name, expiresAt, rateLimit } = old;
    const minted = await insertKey(call, principal, { name, expiresAt, rateLimit, rotatedFromId: old.id });
    const { keyId, keyPrefix } = minted;
    call.audit.note({ details: { keyId, keyPrefix, previousKeyId: old.id, previousKeyPrefix: old.keyPrefix } });
    return minted;
  });
}

/** Whatever the principal's state; a second time changes nothing. */
export async function revokeKey(call: CallOf<"revokeKey">) {
  return call.transaction(async (tx) => {
    const principal = await holdPrincipal(call, tx, call.params.id);
    const key = await getKey(tx, principal.id, call.params.keyId);
    const revoked = await revoke(call, key.id);
    if (revoked) call.audit.note({ details: { keyId: key.id, keyPrefix: key.keyPrefix } });
    else call.audit.skip();
    return { success: true as const, alreadyRevoked: !revoked };
  });
}

async function holdActive(call: Call, tx: Tx, id: string): Promise<PrincipalRow> {
  const principal = await holdPrincipal(call, tx, id);
  if (principal.status !== "active") throw problem("INVALID_STATE", { details: { status: principal.status } });
  refuseBeyondOwn(call, principal.scopes);
  return principal;
}

async function getKey(tx: Tx, principalId: string, keyId: string) {
  const key = await tx
    .selectFrom("partnerServicePrincipalKeys")
    .selectAll()
    .where("principalId", "=", principalId)
    .where("id", "=", keyId)
    .executeTakeFirst();
  if (!key) throw problem("NOT_FOUND");
  return key;
}

async function revoke(call: Call, keyId: string): Promise<boolean> {
  const now = call.clock.now();
  const revoked = await writeCredentials(call, (all) =>
    all
      .updateTable("partnerServicePrincipalKeys")
      .set({ status: "revoked", revokedAt: now, updatedAt: now })
      .where("id", "=", keyId)
      .where("status", "=", "active")
      .executeTakeFirst(),
  );
  return revoked.numUpdatedRows === 1n;
}

type Settings = Pick<
  Insertable<PartnerServicePrincipalKeysTable>,
  "name" | "expiresAt" | "rateLimit" | "rotatedFromId"
>;

async function insertKey(call: Call, principal: PrincipalRow, settings: Settings) {
  const key = `svc_sp_${call.random.bytes(32).toString("base64url")}`;
  const keyPrefix = key.slice(0, PREFIX_LENGTH);
  const keyId = call.random.uuid();
  const now = call.clock.now();
  const { partnerId, id: principalId } = principal;
  const made = {
    ...{ ...settings, id: keyId, partnerId, principalId, keyPrefix, keyHash: sha256(key), status: "active" as const },
    ...{ lastUsedAt: null, revokedAt: null, createdBy: user(call).userId, createdAt: now, updatedAt: now },
  };
  await writeCredentials(call, (all) => all.insertInto("partnerServicePrincipalKeys").values(made).execute());
  return { keyId, key, keyPrefix };
}
