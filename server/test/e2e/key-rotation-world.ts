import { createHash } from "node:crypto";
import { enrollmentKeyHash } from "#server/features/credentials/enrollment-keys/key-hash";
import { type SignedInUser, seedPartner, type TestServer } from "../harness.ts";

const DAY = 86_400_000;

export interface RotationWorld {
  readonly server: TestServer;
  readonly admin: SignedInUser;
  readonly partnerId: string;
  readonly orgId: string;
  /** One key of each kind, created 100 days ago, and two more API keys: one created today, one revoked. */
  readonly keys: Readonly<
    Record<"api" | "service" | "partner" | "enrollment" | "young" | "revoked", { id: string; secret: string }>
  >;
  /** Ids of the service principal and of the partner service principal. */
  readonly principals: { readonly service: string; readonly partner: string };
  /** Kind and id of the key with this secret now; undefined if there is none. */
  ownerOf(secret: string): Promise<string | undefined>;
}

/** A new partner with old keys. The server runs at the present time, because `rmm` processes use the real clock. */
export async function rotationWorld(server: TestServer): Promise<RotationWorld> {
  const now = Date.now();
  server.clock.set(new Date(now - 100 * DAY).toISOString());
  const { partnerId, orgIds } = await seedPartner(server, `acme-${server.services.random.uuid()}`, ["acme-west"]);
  const orgId = orgIds[0] as string;
  const before = await server.signIn({ role: "Partner Admin", partnerId });
  const post = async (path: string, body?: object, token = before.token) => {
    const { status, body: answer } = await server.request("POST", path, { token, ...(body ? { body } : {}) });
    if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(answer)}`);
    return answer;
  };
  const api = await post("/api-keys", { orgId, name: "ci", scopes: ["devices:read"] });
  const revoked = await post("/api-keys", { orgId, name: "was", scopes: [] });
  const service = await post("/service-principals", { orgId, name: "exporter", scopes: ["devices:read"] });
  const serviceKey = await post(`/service-principals/${service.id}/rotate`);
  const partner = await post("/partner-service-principals", { name: "provisioning" });
  const partnerKey = await post(`/partner-service-principals/${partner.id}/keys`, { name: "pipeline" });
  const ends = new Date(now + 10 * DAY).toISOString();
  const enrollment = await post("/enrollment-keys", { orgId, name: "rollout", maxUsage: 25, expiresAt: ends });
  await server.request("DELETE", `/api-keys/${revoked.id}`, { token: before.token });
  server.clock.set(new Date(now).toISOString());
  const admin = await server.signIn({ role: "Partner Admin", partnerId });
  const young = await post("/api-keys", { orgId, name: "new", scopes: [] }, admin.token);
  return {
    server,
    admin,
    partnerId,
    orgId,
    principals: { service: service.id, partner: partner.id },
    keys: {
      api: { id: api.id, secret: api.key },
      service: { id: serviceKey.apiKeyId, secret: serviceKey.key },
      partner: { id: partnerKey.keyId, secret: partnerKey.key },
      enrollment: { id: enrollment.id, secret: enrollment.key },
      young: { id: young.id, secret: young.key },
      revoked: { id: revoked.id, secret: revoked.key },
    },
    ownerOf: (secret) => ownerOf(server, secret),
  };
}

async function ownerOf({ db, services }: TestServer, secret: string): Promise<string | undefined> {
  const plain = createHash("sha256").update(secret).digest("hex");
  const peppered = enrollmentKeyHash(services.config.enrollmentKeyPeppers[0] as string, secret);
  const [api, partner, enrollment] = await Promise.all([
    db
      .selectFrom("apiKeys")
      .select(["id", "principalType"])
      .where("keyHash", "=", plain)
      .where("status", "=", "active")
      .execute(),
    db
      .selectFrom("partnerServicePrincipalKeys")
      .select("id")
      .where("keyHash", "=", plain)
      .where("status", "=", "active")
      .execute(),
    db.selectFrom("enrollmentKeys").select("id").where("keyHash", "=", peppered).execute(),
  ]);
  return [
    ...api.map(({ id, principalType }) => `${principalType === "service" ? "service-principal" : "api-key"} ${id}`),
    ...partner.map(({ id }) => `partner-key ${id}`),
    ...enrollment.map(({ id }) => `enrollment-key ${id}`),
  ][0];
}
