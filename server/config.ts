import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type LogLevel, logLevels } from "./platform/log.ts";

/** What an operator set wrongly; the server refuses to start and says which setting. */
export class ConfigError extends Error {
  override name = "ConfigError";
}

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Config {
  production: boolean;
  hosted: boolean;
  port: number;
  logLevel: LogLevel;
  databaseUrl: string | undefined;
  auditAdminDatabaseUrl: string | undefined;
  dataDir: string;
  publicUrl: string | undefined;
  trustProxyHeaders: boolean;
  jwtSecret: string;
  encryptionKey: string;
  /** Current pepper first, then what older keys were hashed with (specification 2, "Enrollment key"). */
  enrollmentKeyPeppers: readonly string[];
  agentEnrollmentSecret: string | undefined;
  anchorSigningKey: string | undefined;
  anchorFile: string;
  auditChainVerify: boolean;
  enable2fa: boolean;
  bootstrapAdmin: { email: string; password: string } | undefined;
  apiRateLimitPerMinute: number;
  agentEnrollRateLimit: number;
  enrollmentKeyTtlMinutes: number;
  /** Longest life of an enrollment key that a partner principal mints; undefined = no cap. */
  partnerApiMaxTtlMinutes: number | undefined;
  /** Signs export cursors; undefined = a key derived from the encryption key. */
  partnerApiCursorKey: string | undefined;
  deviceOfflineThresholdMinutes: number;
  smtp: { host: string; port: number; user?: string; password?: string; from: string } | undefined;
  metricsScrapeToken: string | undefined;
  apiDocsUi: boolean;
  /** Seconds between runs by job name; tests only. */
  workerIntervals: Readonly<Record<string, number>>;
}

/**
 * Reads the environment once (contract 4 §16). Outside production, secrets that are not set are made
 * once and kept in the data directory with mode 0600, so that the embedded server needs no set-up.
 */
export function readConfig(env: Environment): Config {
  const read = reader(env);
  const production = env["NODE_ENV"] === "production";
  const hosted = read.flag("IS_HOSTED", false);
  const dataDir = resolve(env["RMM_DATA_DIR"] || "./.rmm");
  const databaseUrl = read.text("DATABASE_URL");
  if (databaseUrl !== undefined && !/^(postgres(ql)?:\/\/|sqlite:)/.test(databaseUrl)) {
    throw new ConfigError("DATABASE_URL must start with postgres:// or sqlite:");
  }
  if (hosted && databaseUrl === undefined) throw new ConfigError("DATABASE_URL is needed when IS_HOSTED is true");
  const kept = keptSecrets(dataDir, production);
  const legacy = ["APP_ENCRYPTION_KEY", "SECRET_ENCRYPTION_KEY", "JWT_SECRET"].map(read.text);
  const pepper = read.text("ENROLLMENT_KEY_PEPPER");
  if (production && pepper === undefined && legacy.every((value) => value === undefined)) {
    throw new ConfigError(
      "one of ENROLLMENT_KEY_PEPPER, APP_ENCRYPTION_KEY, SECRET_ENCRYPTION_KEY, JWT_SECRET is needed",
    );
  }
  const config: Config = {
    production,
    hosted,
    port: read.int("PORT", 3000, 0, 65_535),
    logLevel: read.oneOf("LOG_LEVEL", logLevels, "info"),
    databaseUrl,
    auditAdminDatabaseUrl: read.text("AUDIT_ADMIN_DATABASE_URL"),
    dataDir,
    publicUrl: read.url("PUBLIC_URL") ?? read.url("PUBLIC_APP_URL") ?? read.url("DASHBOARD_URL"),
    trustProxyHeaders: read.flag("TRUST_PROXY_HEADERS", false),
    jwtSecret: strong("JWT_SECRET", read.text("JWT_SECRET"), production, kept),
    encryptionKey: strong(
      "SECRET_ENCRYPTION_KEY",
      read.text("SECRET_ENCRYPTION_KEY") ?? read.text("APP_ENCRYPTION_KEY"),
      production,
      kept,
    ),
    enrollmentKeyPeppers: [pepper ?? (production ? undefined : kept("ENROLLMENT_KEY_PEPPER")), ...legacy].filter(
      (value): value is string => value !== undefined,
    ),
    agentEnrollmentSecret: read.text("AGENT_ENROLLMENT_SECRET"),
    anchorSigningKey: anchorKey(read.text("AUDIT_ANCHOR_SIGNING_KEY"), production, kept),
    anchorFile: resolve(read.text("AUDIT_ANCHOR_FILE") ?? join(dataDir, "audit-anchors.ndjson")),
    auditChainVerify: read.flag("AUDIT_CHAIN_VERIFY_ENABLED", true),
    enable2fa: read.flag("ENABLE_2FA", true),
    bootstrapAdmin: bootstrapAdmin(read.text("BOOTSTRAP_ADMIN_EMAIL"), read.text("BOOTSTRAP_ADMIN_PASSWORD")),
    apiRateLimitPerMinute: read.int("API_RATE_LIMIT_PER_MINUTE", 1000, 0),
    agentEnrollRateLimit: read.int("AGENT_ENROLL_RATE_LIMIT", 10, 1),
    enrollmentKeyTtlMinutes: read.int("ENROLLMENT_KEY_DEFAULT_TTL_MINUTES", 43_200, 1),
    partnerApiMaxTtlMinutes:
      read.text("PARTNER_API_ENROLLMENT_KEY_MAX_TTL_MINUTES") === undefined
        ? undefined
        : read.int("PARTNER_API_ENROLLMENT_KEY_MAX_TTL_MINUTES", 1, 1),
    partnerApiCursorKey: strongOrUnset("PARTNER_API_CURSOR_SIGNING_KEY", read, production),
    deviceOfflineThresholdMinutes: read.int("DEVICE_OFFLINE_THRESHOLD_MINUTES", 5, 1),
    smtp: smtp(read),
    metricsScrapeToken: read.text("METRICS_SCRAPE_TOKEN"),
    apiDocsUi: read.flag("ENABLE_API_DOCS_UI", !production),
    workerIntervals: workerIntervals(read.text("WORKER_INTERVALS"), production),
  };
  if (production && !config.enable2fa) throw new ConfigError("ENABLE_2FA=false is refused in production");
  return config;
}

function reader(env: Environment) {
  const text = (name: string): string | undefined =>
    env[name] === undefined || env[name] === "" ? undefined : env[name];
  const bad = (name: string, what: string) => new ConfigError(`${name} must be ${what}`);
  return {
    text,
    int(name: string, fallback: number, min: number, max = Number.MAX_SAFE_INTEGER): number {
      const value = text(name);
      if (value === undefined) return fallback;
      const number = Number(value);
      if (!/^\d+$/.test(value) || number < min || number > max) throw bad(name, `a whole number from ${min}`);
      return number;
    },
    flag(name: string, fallback: boolean): boolean {
      const value = text(name)?.toLowerCase();
      if (value === undefined) return fallback;
      if (["true", "1", "yes"].includes(value)) return true;
      if (["false", "0", "no"].includes(value)) return false;
      throw bad(name, "true or false");
    },
    url(name: string): string | undefined {
      const value = text(name);
      if (value === undefined) return undefined;
      if (!URL.canParse(value) || !/^https?:/.test(value)) throw bad(name, "an http or https address");
      return value.replace(/\/+$/, "");
    },
    oneOf<T extends string>(name: string, allowed: readonly T[], fallback: T): T {
      const value = text(name) as T | undefined;
      if (value === undefined) return fallback;
      if (!allowed.includes(value)) throw bad(name, `one of ${allowed.join(", ")}`);
      return value;
    },
  };
}

type Reader = ReturnType<typeof reader>;
type Kept = (name: string) => string;

/** Secrets of a development server, made once; read again at the next start. */
function keptSecrets(dataDir: string, production: boolean): Kept {
  const file = join(dataDir, "secrets.json");
  return (name) => {
    if (production) throw new ConfigError(`${name} is needed in production`);
    const known = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Record<string, string>) : {};
    const value = known[name];
    if (value !== undefined) return value;
    const made = randomBytes(32).toString("base64");
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const next = `${file}.${process.pid}.tmp`;
    writeFileSync(next, JSON.stringify({ ...known, [name]: made }, null, 2), { mode: 0o600 });
    renameSync(next, file);
    return made;
  };
}

function strong(name: string, value: string | undefined, production: boolean, kept: Kept): string {
  if (value === undefined) return kept(name);
  if (production && value.length < 32) throw new ConfigError(`${name} needs at least 32 characters`);
  return value;
}

function strongOrUnset(name: string, read: Reader, production: boolean): string | undefined {
  const value = read.text(name);
  if (production && value !== undefined && value.length < 32)
    throw new ConfigError(`${name} needs at least 32 characters`);
  return value;
}

function anchorKey(value: string | undefined, production: boolean, kept: Kept): string | undefined {
  if (value === undefined) return production ? undefined : kept("AUDIT_ANCHOR_SIGNING_KEY");
  if (Buffer.from(value, "base64").length !== 32)
    throw new ConfigError("AUDIT_ANCHOR_SIGNING_KEY must be 32 bytes in base64");
  return value;
}

function bootstrapAdmin(email: string | undefined, password: string | undefined): Config["bootstrapAdmin"] {
  if (email === undefined && password === undefined) return undefined;
  if (email === undefined || password === undefined) {
    throw new ConfigError("BOOTSTRAP_ADMIN_EMAIL and BOOTSTRAP_ADMIN_PASSWORD must be set together");
  }
  return { email: email.trim().toLowerCase(), password };
}

function smtp(read: Reader): Config["smtp"] {
  const host = read.text("SMTP_HOST");
  if (host === undefined) return undefined;
  const user = read.text("SMTP_USER");
  const password = read.text("SMTP_PASSWORD");
  return {
    host,
    port: read.int("SMTP_PORT", 587, 1, 65_535),
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { password }),
    from: read.text("SMTP_FROM") ?? `rmm@${host}`,
  };
}

function workerIntervals(value: string | undefined, production: boolean): Record<string, number> {
  if (value === undefined) return {};
  if (production) throw new ConfigError("WORKER_INTERVALS is refused in production");
  try {
    return JSON.parse(value) as Record<string, number>;
  } catch {
    throw new ConfigError("WORKER_INTERVALS must be JSON");
  }
}
