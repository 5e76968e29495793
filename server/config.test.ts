import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { ConfigError, readConfig } from "./config.ts";

const dataDir = mkdtempSync(join(tmpdir(), "rmm-config-"));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const read = (env: Record<string, string>) => readConfig({ RMM_DATA_DIR: dataDir, ...env });
const strong = "x".repeat(32);
const production = { NODE_ENV: "production", JWT_SECRET: strong, SECRET_ENCRYPTION_KEY: strong };

describe("the configuration", () => {
  it.each([
    ["NODE_ENV", { NODE_ENV: "Production" }],
    ["NODE_ENV", { NODE_ENV: "prod" }],
    ["DATABASE_URL", { DATABASE_URL: "mysql://x" }],
    ["DATABASE_URL", { DATABASE_URL: "sqlite:" }],
    ["DATABASE_URL", { IS_HOSTED: "true" }],
    ["AUDIT_ADMIN_DATABASE_URL", { AUDIT_ADMIN_DATABASE_URL: "sqlite:audit.db" }],
    ["PUBLIC_APP_URL", { PUBLIC_URL: "https://rmm.example", PUBLIC_APP_URL: "nonsense" }],
    ["DASHBOARD_URL", { PUBLIC_URL: "https://rmm.example", DASHBOARD_URL: "ftp://rmm.example" }],
    ["PUBLIC_URL", { PUBLIC_URL: "javascript:alert(1)" }],
    ["PUBLIC_URL", { PUBLIC_URL: "https://user:pw@rmm.example" }],
    ["PUBLIC_URL", { PUBLIC_URL: "https://rmm.example/?a=1" }],
    ["PUBLIC_URL", { PUBLIC_URL: "https://rmm.example/#" }],
    ["BOOTSTRAP_ADMIN_EMAIL", { BOOTSTRAP_ADMIN_EMAIL: "root", BOOTSTRAP_ADMIN_PASSWORD: "Correct-Horse-7" }],
    ["BOOTSTRAP_ADMIN_PASSWORD", { BOOTSTRAP_ADMIN_EMAIL: "a@b.example", BOOTSTRAP_ADMIN_PASSWORD: "weak" }],
    ["BOOTSTRAP_ADMIN_PASSWORD", { BOOTSTRAP_ADMIN_EMAIL: "a@b.example" }],
    ["BOOTSTRAP_ADMIN_EMAIL", { BOOTSTRAP_ADMIN_PASSWORD: "Correct-Horse-7" }],
    ["WORKER_INTERVALS", { WORKER_INTERVALS: "{" }],
    ["WORKER_INTERVALS", { WORKER_INTERVALS: "null" }],
    ["WORKER_INTERVALS", { WORKER_INTERVALS: "[1]" }],
    ["WORKER_INTERVALS", { WORKER_INTERVALS: '{"audit.verify":0}' }],
    ["WORKER_INTERVALS", { ...production, WORKER_INTERVALS: "{}" }],
    ["JWT_SECRET", { ...production, JWT_SECRET: "" }],
    ["JWT_SECRET", { ...production, JWT_SECRET: "short" }],
    ["SECRET_ENCRYPTION_KEY", { ...production, SECRET_ENCRYPTION_KEY: "short" }],
    ["JWT_SECRET and SECRET_ENCRYPTION_KEY are", { NODE_ENV: "production" }],
    ["LOG_LEVEL", { LOG_LEVEL: "loud" }],
    ["API_RATE_LIMIT_PER_MINUTE", { API_RATE_LIMIT_PER_MINUTE: "-1" }],
    ["AGENT_ENROLL_RATE_LIMIT", { AGENT_ENROLL_RATE_LIMIT: "0" }],
    ["ENROLLMENT_KEY_DEFAULT_TTL_MINUTES", { ENROLLMENT_KEY_DEFAULT_TTL_MINUTES: "1e3" }],
    ["SMTP_PORT", { SMTP_HOST: "mail.example", SMTP_PORT: "0" }],
    ["SMTP_PORT", { SMTP_PORT: "smtp" }],
    ["ENABLE_2FA", { ...production, ENABLE_2FA: "false" }],
    ["TRUST_PROXY_HEADERS", { TRUST_PROXY_HEADERS: "maybe" }],
    ["TRUSTED_CLIENT_IP_HEADER", { TRUST_PROXY_HEADERS: "true", TRUSTED_CLIENT_IP_HEADER: "X Client" }],
    ["WEBHOOK_ALLOW_PRIVATE", { DATABASE_URL: "postgres://db/rmm", IS_HOSTED: "true", WEBHOOK_ALLOW_PRIVATE: "true" }],
    ["SSO_BREAK_GLASS", { SSO_BREAK_GLASS: "maybe" }],
    ["SSO_ALLOW_PRIVATE_NETWORK", { SSO_ALLOW_PRIVATE_NETWORK: "private" }],
    [
      "SSO_ALLOW_PRIVATE_NETWORK",
      { DATABASE_URL: "postgres://db/rmm", IS_HOSTED: "true", SSO_ALLOW_PRIVATE_NETWORK: "true" },
    ],
    ["DNS_RESOLVER", { DNS_RESOLVER: "dns.example" }],
    ["PORT", { PORT: "65536" }],
    ["AUDIT_ANCHOR_SIGNING_KEY", { AUDIT_ANCHOR_SIGNING_KEY: "abc" }],
    ["AUDIT_ANCHOR_SIGNING_KEY", { AUDIT_ANCHOR_SIGNING_KEY: Buffer.alloc(32, 0xfb).toString("base64url") }],
    ["AUDIT_ANCHOR_PUBLIC_KEYS", { AUDIT_ANCHOR_PUBLIC_KEYS: "abc" }],
    ["AUDIT_ANCHOR_WEBHOOK_URL", { AUDIT_ANCHOR_WEBHOOK_URL: "http://hooks.example/a" }],
    ["AUDIT_ANCHOR_WEBHOOK_URL", { AUDIT_ANCHOR_WEBHOOK_URL: "https://bob:secret@hooks.example/a" }],
    [
      "AUDIT_ANCHOR_WEBHOOK_SECRET",
      { AUDIT_ANCHOR_WEBHOOK_URL: "https://hooks.example/a", AUDIT_ANCHOR_WEBHOOK_SECRET: "short" },
    ],
    ["S3_ACCESS_KEY_ID", { AUDIT_ANCHOR_S3_BUCKET: "evidence" }],
    [
      "AUDIT_ANCHOR_S3_BUCKET",
      { AUDIT_ANCHOR_S3_BUCKET: "../evidence", S3_ACCESS_KEY_ID: "a", S3_SECRET_ACCESS_KEY: "b" },
    ],
    ["AUDIT_ANCHOR_S3_PREFIX", { AUDIT_ANCHOR_S3_BUCKET: "evidence", AUDIT_ANCHOR_S3_PREFIX: "no-folder" }],
    ["S3_ENDPOINT", { AUDIT_ANCHOR_S3_BUCKET: "evidence", S3_ENDPOINT: "minio:9000" }],
  ])("refuses a wrong %s by its name: %j", (name, env) => {
    let refusal: unknown;
    try {
      read(env as Record<string, string>);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(ConfigError);
    expect((refusal as Error).message).toContain(name);
    expect((refusal as Error).message).not.toMatch(/user:pw|Correct-Horse|weak/);
  });

  it("takes the operator's presets of identity providers, once they are well-formed", () => {
    const file = join(dataDir, "presets.json");
    const use = (content: string) => {
      writeFileSync(file, content);
      return () => read({ SSO_PRESETS_FILE: file }).ssoPresets;
    };
    const preset = { id: "own", name: "Own", type: "oidc", attributeMapping: { email: "mail", name: "cn" } };
    expect(use(JSON.stringify([preset]))()).toEqual([preset]);
    expect(read({}).ssoPresets.map(({ id }) => id)).toContain("cloud-directory");
    for (const content of [
      "{",
      "{}",
      JSON.stringify([{ ...preset, attributeMapping: { email: "mail" } }]),
      JSON.stringify([{ ...preset, id: "Own Preset" }]),
      JSON.stringify([{ ...preset, type: "ldap" }]),
      JSON.stringify([preset, preset]),
    ])
      expect(use(content), content).toThrow(/SSO_PRESETS_FILE/);
    expect(() => read({ SSO_PRESETS_FILE: join(dataDir, "nowhere.json") })).toThrow(/SSO_PRESETS_FILE/);
  });

  it("reads what is right, the administrator's address as sign-in reads it", () => {
    const config = read({
      ...production,
      PUBLIC_URL: "https://rmm.example/app/",
      BOOTSTRAP_ADMIN_EMAIL: " Root@MSP.example ",
      BOOTSTRAP_ADMIN_PASSWORD: "Correct-Horse-7",
    });
    expect(config).toMatchObject({
      production: true,
      publicUrl: "https://rmm.example/app",
      bootstrapAdmin: { email: "root@msp.example" },
    });
    expect(read({ WORKER_INTERVALS: '{"audit.verify":0.5}' }).workerIntervals).toEqual({ "audit.verify": 0.5 });
  });
});
