import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Secret, TOTP } from "otpauth";
import { createClient, type RmmClient } from "#sdk/client";
import { nodeTransport } from "#sdk/node";
import type { ClientOptions } from "#sdk/options";
import { readConfig } from "#server/config";
import { startServer } from "#server/main";
import { silentLog } from "#server/platform/log";

export interface TestServerOptions {
  /** Settings of the server, as its environment would give them (server/README.md, "Settings"). */
  readonly env?: Readonly<Record<string, string>>;
  /** Settings of the client. */
  readonly client?: Omit<ClientOptions, "baseUrl" | "credentials">;
}

export interface TestServer {
  readonly baseUrl: string;
  /** Signed in as the administrator, who has proved a second factor: may do everything. */
  readonly client: RmmClient;
  readonly admin: { readonly email: string; readonly password: string; readonly recoveryCodes: readonly string[] };
  /** Folder of the server: its mails are in `mail-outbox.ndjson` there. */
  readonly dataDir: string;
  stop(): Promise<void>;
}

const email = "admin@rmm.test";

/**
 * Starts the real server in this process, on a free port of this machine and a database in memory. Nothing is replaced:
 * permissions, limits, audit and background work are those of production; only requests per minute are not counted.
 *
 * @example
 * const { client, stop } = await startTestServer();
 * const partner = await client.partners.create({ body: { name: "Acme", slug: "acme" } });
 */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const dataDir = mkdtempSync(join(tmpdir(), "rmm-testing-"));
  const password = `Aa1-${crypto.randomUUID()}`;
  const config = readConfig({
    RMM_DATA_DIR: dataDir,
    DATABASE_URL: "sqlite::memory:",
    BOOTSTRAP_ADMIN_EMAIL: email,
    BOOTSTRAP_ADMIN_PASSWORD: password,
    API_RATE_LIMIT_PER_MINUTE: "0",
    ...options.env,
  });
  const removed = () => rmSync(dataDir, { recursive: true, force: true });
  const server = await startServer({ config: { ...config, port: 0 }, log: silentLog }).catch((error: unknown) => {
    removed();
    throw error;
  });
  const stop = async () => {
    await server.stop();
    removed();
  };
  try {
    const client = createClient({ transport: nodeTransport(), ...options.client, baseUrl: server.url });
    const recoveryCodes = await signIn(client, password);
    return { baseUrl: server.url, client, admin: { email, password, recoveryCodes }, dataDir, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** As a person would: password, then a second factor, without which tenants cannot be written. */
async function signIn(client: RmmClient, password: string): Promise<string[]> {
  const answer = await client.sessions.login({ body: { email, password } });
  if (answer.mfaRequired) throw new Error("a new administrator has no second factor yet");
  await client.auth.adopt(answer);
  const { secret } = await client.mfa.setup({ body: { currentPassword: password } });
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
  return (await client.mfa.enable({ body: { code } })).recoveryCodes;
}
