import { enrollmentKeyHash } from "#server/features/credentials/enrollment-keys/key-hash";
import { sha256 } from "#server/platform/vault";
import type { Answer, Behind, TestServer } from "./harness.ts";

export interface TestKey {
  id: string;
  raw: string;
}

interface KeyOptions {
  orgId: string;
  siteId?: string | null;
  maxUsage?: number | null;
  expiresAt?: string;
  secret?: string;
  /** Place in the list of peppers; 0 = the current one. */
  pepper?: number;
}

/** An enrollment key made behind the API. */
export async function makeKey(server: TestServer, options: KeyOptions): Promise<TestKey> {
  const { random, clock, config } = server.services;
  const raw = random.bytes(32).toString("hex");
  const id = random.uuid();
  await server.db
    .insertInto("enrollmentKeys")
    .values({
      id,
      orgId: options.orgId,
      siteId: options.siteId ?? null,
      name: "key",
      keyHash: enrollmentKeyHash(config.enrollmentKeyPeppers[options.pepper ?? 0] as string, raw),
      enrollmentSecretHash: options.secret === undefined ? null : sha256(options.secret),
      maxUsage: options.maxUsage === undefined ? null : options.maxUsage,
      usageCount: 0,
      expiresAt: options.expiresAt ?? "2099-01-01T00:00:00.000Z",
      createdBy: null,
      createdByPrincipalId: null,
      keyIssuedAt: clock.now(),
      createdAt: clock.now(),
      updatedAt: clock.now(),
    })
    .execute();
  return { id, raw };
}

export async function usageOf(server: TestServer, key: TestKey): Promise<number | undefined> {
  const row = await server.db
    .selectFrom("enrollmentKeys")
    .select("usageCount")
    .where("id", "=", key.id)
    .executeTakeFirst();
  return row?.usageCount;
}

/** A plain machine asks to be let in. */
export function enroll(
  server: TestServer,
  key: TestKey | { raw: string },
  body: Record<string, unknown> = {},
  options: { token?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  return server.request("POST", "/agents/enroll", {
    ...options,
    body: {
      enrollmentKey: key.raw,
      hostname: "pc-01",
      osType: "windows",
      osVersion: "Windows 11",
      architecture: "x64",
      agentVersion: "1.0.0",
      ...body,
    },
  });
}

export async function makeSite(server: Behind, orgId: string, name = "Site"): Promise<string> {
  const id = server.services.random.uuid();
  const now = server.services.clock.now();
  await server.db
    .insertInto("sites")
    .values({
      id,
      orgId,
      name,
      timezone: "Europe/Berlin",
      address: null,
      contact: null,
      settings: {},
      createdAt: now,
      updatedAt: now,
    })
    .execute();
  return id;
}
