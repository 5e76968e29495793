import { createPublicKey, randomBytes } from "node:crypto";
import { Resolver } from "node:dns";
import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { email as emailSchema } from "#contract/core/fields";
import { type ProxyVariables, proxyFor } from "#contract/core/proxy";
import { passwordProblem } from "./access/password.ts";
import { type AnchorPlaces, anchorPlaces } from "./anchor-settings.ts";
import { ConfigError } from "./config-error.ts";
import { type LogLevel, logLevels } from "./platform/log.ts";
import { type ProxyTrust, readProxyTrust } from "./platform/proxy-trust.ts";
import { type Preset, presetsFrom, shippedPresets } from "./sso-presets.ts";

export { ConfigError };

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Config extends AnchorPlaces {
  production: boolean;
  hosted: boolean;
  port: number;
  logLevel: LogLevel;
  databaseUrl: string | undefined;
  /** Postgres logins beside that of `databaseUrl`: for system work, for migrations, for retention. */
  systemDatabaseUrl: string | undefined;
  migrationDatabaseUrl: string | undefined;
  auditAdminDatabaseUrl: string | undefined;
  dataDir: string;
  publicUrl: string | undefined;
  proxyTrust: ProxyTrust;
  jwtSecret: string;
  encryptionKey: string;
  /**
   * Current pepper first, then the keys that older enrollment keys were hashed with
   * (docs/credentials.md, "Enrollment keys").
   */
  enrollmentKeyPeppers: readonly string[];
  agentEnrollmentSecret: string | undefined;
  anchorSigningKey: string | undefined;
  /** Keys that signed anchors before, SPKI in base64: still trusted for what they signed then. */
  anchorPublicKeys: readonly string[];
  anchorFile: string;
  auditChainVerify: boolean;
  enable2fa: boolean;
  bootstrapAdmin: { email: string; password: string } | undefined;
  apiRateLimitPerMinute: number;
  agentEnrollRateLimit: number;
  /** How long the devices of an organization that is wound down may take to uninstall. */
  offboardingDrainWindowHours: number;
  /** Longest wait of an agent that asks for commands, in seconds. */
  agentPollMaxSeconds: number;
  agentLogRetentionDays: number;
  /** Longest wait for the answer of an agent that somebody asks live, in seconds. */
  liveWaitSeconds: number;
  enrollmentKeyTtlMinutes: number;
  /** Longest life of an enrollment key that a partner principal mints; undefined = no cap. */
  partnerApiMaxTtlMinutes: number | undefined;
  /** Signs export cursors; undefined = a key derived from the encryption key. */
  partnerApiCursorKey: string | undefined;
  deviceOfflineThresholdMinutes: number;
  groupSweepIntervalSeconds: number;
  /** Devices may be told to carry approvals of elevated rights out. */
  pamActuatorEnabled: boolean;
  /** How long a request for elevated rights waits for a decision. */
  pamPendingTtlMinutes: number;
  toolExecutionTtlSeconds: number;
  /**
   * An administrator with MFA may sign in by password where single sign-on is enforced
   * (docs/single-sign-on.md, "Break-glass").
   */
  ssoBreakGlass: boolean;
  /** Identity providers may be reached over http and at private addresses. */
  ssoAllowPrivateNetwork: boolean;
  /** Webhooks that partner or system scope wrote may lead to http and to addresses of the own network. */
  webhookAllowPrivate: boolean;
  /** Presets of identity providers: those that come with the server, or the operator's. */
  ssoPresets: readonly Preset[];
  /** `ADDRESS[:PORT]` of the DNS server asked about identity providers, webhooks and domains; undefined = the system's. */
  dnsResolver: string | undefined;
  /** `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, for requests to identity providers and webhooks. */
  proxies: ProxyVariables;
  smtp: { host: string; port: number; user?: string; password?: string; from: string } | undefined;
  metricsScrapeToken: string | undefined;
  apiDocsUi: boolean;
  /** Seconds between runs by job name, and of the `lease` of who runs them; tests only. */
  workerIntervals: Readonly<Record<string, number>>;
}

/**
 * Reads the environment once (docs/platform.md, "Settings"). Outside production, secrets that are not set are made once
 * and kept in the data directory with mode 0600, so that the embedded server needs no set-up.
 */
/** `makesSecrets`: those that are kept beside the data are made where they are not there yet. */
export function readConfig(env: Environment, { makesSecrets = true } = {}): Config {
  const read = reader(env);
  // Anything else that was meant as production would run without what production demands.
  const production = read.oneOf("NODE_ENV", ["development", "production", "test"], "development") === "production";
  const hosted = read.flag("IS_HOSTED", false);
  const dataDir = resolve(env["RMM_DATA_DIR"] || "./.rmm");
  const databaseUrl = read.text("DATABASE_URL");
  if (databaseUrl !== undefined && !/^(postgres(ql)?:\/\/|sqlite:)/.test(databaseUrl)) {
    throw new ConfigError("DATABASE_URL must start with postgres:// or sqlite:");
  }
  if (databaseUrl === "sqlite:") throw new ConfigError("DATABASE_URL needs a path after sqlite:");
  if (hosted && databaseUrl === undefined) throw new ConfigError("DATABASE_URL is needed when IS_HOSTED is true");
  const kept = keptSecrets(dataDir, { production, makesSecrets });
  const legacy = ["APP_ENCRYPTION_KEY", "SECRET_ENCRYPTION_KEY", "JWT_SECRET"].map(read.text);
  const pepper = read.text("ENROLLMENT_KEY_PEPPER");
  if (production) demand({ JWT_SECRET: legacy[2], SECRET_ENCRYPTION_KEY: legacy[1] ?? legacy[0] });
  const config: Config = {
    production,
    hosted,
    port: read.int("PORT", 3000, 0, 65_535),
    logLevel: read.oneOf("LOG_LEVEL", logLevels, "info"),
    databaseUrl,
    ...otherLogins(read, databaseUrl),
    dataDir,
    // Every one is read, so that a malformed value is reported even if another one is used.
    publicUrl: ["PUBLIC_URL", "PUBLIC_APP_URL", "DASHBOARD_URL"].map(read.url).find((url) => url !== undefined),
    proxyTrust: proxyTrust(read.text("TRUST_PROXY_HEADERS"), read.text("TRUSTED_CLIENT_IP_HEADER")),
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
    anchorPublicKeys: anchorPublicKeys(read.text("AUDIT_ANCHOR_PUBLIC_KEYS")),
    anchorFile: resolve(read.text("AUDIT_ANCHOR_FILE") ?? join(dataDir, "audit-anchors.ndjson")),
    ...anchorPlaces(read),
    auditChainVerify: read.flag("AUDIT_CHAIN_VERIFY_ENABLED", true),
    enable2fa: read.flag("ENABLE_2FA", true),
    bootstrapAdmin: bootstrapAdmin(read.text("BOOTSTRAP_ADMIN_EMAIL"), read.text("BOOTSTRAP_ADMIN_PASSWORD")),
    apiRateLimitPerMinute: read.int("API_RATE_LIMIT_PER_MINUTE", 1000, 0),
    offboardingDrainWindowHours: read.int("OFFBOARDING_DRAIN_WINDOW_HOURS", 72, 0),
    agentPollMaxSeconds: read.int("AGENT_POLL_MAX_SECONDS", 30, 0),
    agentLogRetentionDays: read.int("AGENT_LOG_RETENTION_DAYS", 7, 1),
    liveWaitSeconds: Math.min(30, read.int("LIVE_WAIT_SECONDS", 30, 1)),
    agentEnrollRateLimit: read.int("AGENT_ENROLL_RATE_LIMIT", 10, 1),
    enrollmentKeyTtlMinutes: read.int("ENROLLMENT_KEY_DEFAULT_TTL_MINUTES", 43_200, 1),
    partnerApiMaxTtlMinutes:
      read.text("PARTNER_API_ENROLLMENT_KEY_MAX_TTL_MINUTES") === undefined
        ? undefined
        : read.int("PARTNER_API_ENROLLMENT_KEY_MAX_TTL_MINUTES", 1, 1),
    partnerApiCursorKey: strongOrUnset("PARTNER_API_CURSOR_SIGNING_KEY", read, production),
    deviceOfflineThresholdMinutes: read.int("DEVICE_OFFLINE_THRESHOLD_MINUTES", 5, 1),
    groupSweepIntervalSeconds: read.int("GROUP_SWEEP_INTERVAL_SECONDS", 300, 60),
    pamActuatorEnabled: read.flag("PAM_ACTUATOR_ENABLED", false),
    pamPendingTtlMinutes: read.int("PAM_PENDING_TTL_MINUTES", 60, 1),
    toolExecutionTtlSeconds: read.int("TOOL_EXECUTION_TTL_SECONDS", 300, 1),
    ssoBreakGlass: read.flag("SSO_BREAK_GLASS", false),
    ssoAllowPrivateNetwork: read.flag("SSO_ALLOW_PRIVATE_NETWORK", false),
    webhookAllowPrivate: read.flag("WEBHOOK_ALLOW_PRIVATE", false),
    ssoPresets: ssoPresets(read.text("SSO_PRESETS_FILE")),
    dnsResolver: dnsResolver(read.text("DNS_RESOLVER")),
    proxies: proxiesOf(env),
    smtp: smtp(read),
    metricsScrapeToken: read.text("METRICS_SCRAPE_TOKEN"),
    apiDocsUi: read.flag("ENABLE_API_DOCS_UI", !production),
    workerIntervals: workerIntervals(read.text("WORKER_INTERVALS"), production),
  };
  if (production && !config.enable2fa) throw new ConfigError("ENABLE_2FA=false is refused in production");
  // Tenants choose identity providers on a hosted server: none of them may reach into the operator's network.
  if (hosted && config.ssoAllowPrivateNetwork)
    throw new ConfigError("SSO_ALLOW_PRIVATE_NETWORK=true is refused when IS_HOSTED is true");
  if (hosted && config.webhookAllowPrivate)
    throw new ConfigError("WEBHOOK_ALLOW_PRIVATE=true is refused when IS_HOSTED is true");
  return config;
}

/** One login serves where there is no other; a second one makes sense beside Postgres alone. */
function otherLogins(read: Reader, databaseUrl: string | undefined) {
  const login = (name: string) => {
    const value = read.text(name);
    if (value !== undefined && !isPostgres(value)) throw new ConfigError(`${name} must start with postgres://`);
    return value;
  };
  const logins = {
    systemDatabaseUrl: login("SYSTEM_DATABASE_URL"),
    migrationDatabaseUrl: login("MIGRATION_DATABASE_URL"),
    auditAdminDatabaseUrl: login("AUDIT_ADMIN_DATABASE_URL"),
  };
  if (logins.systemDatabaseUrl !== undefined && !isPostgres(databaseUrl))
    throw new ConfigError("SYSTEM_DATABASE_URL needs a DATABASE_URL that starts with postgres://");
  return logins;
}

const isPostgres = (url: string | undefined): boolean => url !== undefined && /^postgres(ql)?:\/\//.test(url);

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
      // Links are made by adding to it.
      const { username, password } = new URL(value);
      if (username || password || /[?#]/.test(value)) throw bad(name, "an address without user, query and fragment");
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

function proxyTrust(trusted: string | undefined, header: string | undefined): ProxyTrust {
  const read = readProxyTrust(trusted, header);
  if (read !== undefined) return read;
  throw new ConfigError(
    "TRUST_PROXY_HEADERS must be true, false, a number of proxies or their networks, and TRUSTED_CLIENT_IP_HEADER a name",
  );
}

/** Production generates no secret. All that are missing are named together. */
function demand(secrets: Record<string, string | undefined>): void {
  const missing = Object.keys(secrets).filter((name) => secrets[name] === undefined);
  if (missing.length === 0) return;
  throw new ConfigError(`${missing.join(" and ")} ${missing.length === 1 ? "is" : "are"} needed in production`);
}

type Reader = ReturnType<typeof reader>;
type Kept = (name: string) => string;

const keptNames = ["JWT_SECRET", "SECRET_ENCRYPTION_KEY", "ENROLLMENT_KEY_PEPPER", "AUDIT_ANCHOR_SIGNING_KEY"];

/** Secrets of a development server, made once for all processes that share its data; read again at the next start. */
function keptSecrets(dataDir: string, may: { production: boolean; makesSecrets: boolean }): Kept {
  const file = join(dataDir, "secrets.json");
  const read = () =>
    existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Record<string, string>) : undefined;
  return (name) => {
    if (may.production) throw new ConfigError(`${name} is needed in production`);
    const known = read();
    const value = known?.[name];
    if (value !== undefined) return value;
    if (!may.makesSecrets) throw new ConfigError(`${name} is not set, and no server has kept one in ${dataDir}`);
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const made = Object.fromEntries([...keptNames, name].map((one) => [one, randomBytes(32).toString("base64")]));
    const draft = `${file}.${process.pid}.tmp`;
    writeFileSync(draft, JSON.stringify({ ...made, ...known }, null, 2), { mode: 0o600 });
    // If several processes start together, the first one's file counts and the others read it.
    if (known) renameSync(draft, file);
    else linkUnlessThere(draft, file);
    return read()?.[name] as string;
  };
}

function linkUnlessThere(draft: string, file: string): void {
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(draft, { force: true });
  }
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
  const seed = Buffer.from(value, "base64");
  // Node decodes other spellings too, which the signer refuses: that is to be known now, not when an anchor is due.
  if (seed.length !== 32 || seed.toString("base64").replace(/=+$/, "") !== value.trim().replace(/=+$/, ""))
    throw new ConfigError("AUDIT_ANCHOR_SIGNING_KEY must be 32 bytes in base64");
  return value;
}

function anchorPublicKeys(value: string | undefined): string[] {
  const keys = (value ?? "").split(",").map((key) => key.trim());
  return keys
    .filter((key) => key !== "")
    .map((key) => {
      try {
        const spki = createPublicKey({ key: Buffer.from(key, "base64"), format: "der", type: "spki" });
        if (spki.asymmetricKeyType === "ed25519") return key;
      } catch {
        // Told of below.
      }
      throw new ConfigError("AUDIT_ANCHOR_PUBLIC_KEYS must be a comma list of Ed25519 public keys (SPKI in base64)");
    });
}

function bootstrapAdmin(email: string | undefined, password: string | undefined): Config["bootstrapAdmin"] {
  if (email === undefined && password === undefined) return undefined;
  if (email === undefined || password === undefined) {
    throw new ConfigError("BOOTSTRAP_ADMIN_EMAIL and BOOTSTRAP_ADMIN_PASSWORD must be set together");
  }
  const address = emailSchema().safeParse(email);
  if (!address.success) throw new ConfigError("BOOTSTRAP_ADMIN_EMAIL must be an email address");
  const weak = passwordProblem(password);
  if (weak) throw new ConfigError(`BOOTSTRAP_ADMIN_PASSWORD ${weak}`);
  return { email: address.data, password };
}

function smtp(read: Reader): Config["smtp"] {
  const host = read.text("SMTP_HOST");
  const port = read.int("SMTP_PORT", 587, 1, 65_535);
  if (host === undefined) return undefined;
  const user = read.text("SMTP_USER");
  const password = read.text("SMTP_PASSWORD");
  return {
    host,
    port,
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { password }),
    from: read.text("SMTP_FROM") ?? `rmm@${host}`,
  };
}

function ssoPresets(path: string | undefined): readonly Preset[] {
  if (path === undefined) return shippedPresets;
  try {
    return presetsFrom(path);
  } catch (error) {
    const what = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message;
    throw new ConfigError(`SSO_PRESETS_FILE cannot be used: ${what}`);
  }
}

/** A value that is no address stops the start here, and not the first sign-in. */
function proxiesOf(env: Environment): ProxyVariables {
  const names = ["HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"].flatMap((name) => [name, name.toLowerCase()]);
  const proxies = Object.fromEntries(names.map((name) => [name, env[name]]));
  try {
    for (const scheme of ["https", "http"])
      proxyFor(new URL(`${scheme}://idp.invalid`), { ...proxies, NO_PROXY: "", no_proxy: "" });
  } catch (error) {
    throw new ConfigError((error as Error).message);
  }
  return proxies;
}

function dnsResolver(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  try {
    new Resolver().setServers([value]);
    return value;
  } catch {
    throw new ConfigError("DNS_RESOLVER must be an IP address, with a port where it is not 53");
  }
}

function workerIntervals(value: string | undefined, production: boolean): Record<string, number> {
  if (value === undefined) return {};
  if (production) throw new ConfigError("WORKER_INTERVALS is refused in production");
  const intervals = parseJson(value);
  const isObject = intervals !== null && typeof intervals === "object" && !Array.isArray(intervals);
  if (!isObject || !Object.values(intervals).every((seconds) => typeof seconds === "number" && seconds > 0)) {
    throw new ConfigError("WORKER_INTERVALS must be a JSON object of job names and seconds");
  }
  return intervals as Record<string, number>;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
