import { createHmac } from "node:crypto";
import { HERE } from "./canary-run.ts";
import type { Route } from "./canary-server.ts";

/** A hand-written command, with a server that answers its requests. */
export interface WrittenCommand {
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly given?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly routes: Readonly<Record<string, Route>>;
  /** Requests that fail; all mutations if left out. */
  readonly failing?: (request: string) => boolean;
  /** Secrets that a successful run may print. */
  readonly prints?: (what: string) => boolean;
  /** Files in which a secret may be stored. */
  readonly keeps?: (what: string, where: string) => boolean;
  /** The first Ctrl-C lets it finish the current item; the second ends it. */
  readonly patient?: true;
  /** It succeeds whatever the server answers. */
  readonly forgiving?: true;
  /** It sends no request, so there is none to fail. */
  readonly alone?: true;
}

type Plant = (what: string) => string;

const ID = "11111111-1111-4111-8111-111111111111";
const OTHER = "22222222-2222-4222-8222-222222222222";
const OLD = "2020-01-01T00:00:00.000Z";
const LATER = "2090-01-01T00:00:00.000Z";
const paged = (rows: readonly object[]) => ({ data: rows, pagination: { page: 1, limit: 100, total: rows.length } });
const user = (plant: Plant) => ({ RMM_TOKEN: plant("token") });
const isNew = (what: string): boolean => what.startsWith("new ");
const inSecrets = (what: string, where: string): boolean => isNew(what) && where.startsWith("file work/secrets/");
const me = {
  id: ID,
  scope: "partner",
  partnerId: ID,
  orgAccess: "all",
  permissions: ["*:*"],
  mfaSatisfied: true,
  roleName: "Partner Admin",
  siteIds: null,
  orgIds: null,
};
const tokens = (plant: Plant) => ({
  accessToken: plant("new access token"),
  refreshToken: plant("new refresh token"),
  tokenType: "Bearer",
  expiresIn: 900,
});
const inTokens = (what: string, where: string): boolean => /token$/.test(what) && where.endsWith("/tokens.json");

/** The hand-written commands that handle a secret, by name. */
export const writtenCommands: Readonly<Record<string, (plant: Plant) => WrittenCommand>> = {
  "auth login": login,
  login,
  "users accept-invite": acceptInvite,
  "auth logout": (plant) => ({
    ...signedIn(plant, LATER, ["auth", "logout"]),
    routes: { "POST /auth/logout": () => ({ success: true }) },
    forgiving: true,
  }),
  logout: (plant) => ({
    ...signedIn(plant, LATER, ["logout"]),
    routes: { "POST /auth/logout": () => ({ success: true }) },
    forgiving: true,
  }),
  "auth token": (plant) => ({
    ...signedIn(plant, OLD, ["auth", "token"]),
    prints: (what) => what === "new access token",
  }),
  "auth status": (plant) => ({ ...signedIn(plant, OLD, ["auth", "status"]) }),
  "auth can-i": (plant) => ({
    argv: ["auth", "can-i", "sites:write"],
    env: { RMM_API_KEY: `svc_sp_${plant("key")}` },
    routes: { "POST /partner-api/sites": () => ({}) },
  }),
  "auth mfa setup": (plant) => ({
    argv: ["auth", "mfa", "setup", "--current-password-file", `${HERE}/password.txt`],
    env: user(plant),
    given: { "password.txt": `${plant("password")}\n` },
    routes: {
      "POST /auth/mfa/setup": () => ({
        secret: plant("new secret"),
        otpAuthUrl: `otpauth://totp/x?secret=${plant("new url")}`,
        qrCodeDataUrl: `data:image/png;base64,${plant("new picture")}`,
        recoveryCodes: [plant("new recovery code")],
      }),
    },
    prints: isNew,
  }),
  // What it sends is that of `registration-options` and `verify`; between them a person types a code that no program knows.
  "approver-devices register": (plant) => ({
    argv: ["approver-devices", "register", "--current-password-file", `${HERE}/password.txt`, "--dry-run"],
    env: user(plant),
    given: { "password.txt": `${plant("password")}\n` },
    routes: {},
    alone: true,
  }),
  "elevation-requests approve": (plant) => ({
    argv: ["elevation-requests", "approve", ID, "--reauth-password-file", `${HERE}/password.txt`, "--yes"],
    env: user(plant),
    given: { "password.txt": `${plant("password")}\n` },
    routes: {
      [`GET /pam/elevation-requests/${ID}`]: () => ({
        id: ID,
        riskTier: 4,
        status: "pending",
        requestedAt: OLD,
        events: [],
      }),
      [`POST /pam/elevation-requests/${ID}/respond`]: () => ({ success: true, id: ID, status: "approved" }),
    },
  }),
  "keys list": (plant) => ({
    argv: ["keys", "list"],
    env: user(plant),
    routes: keyRoutes(plant),
    failing: (request) => request.startsWith("GET /api-keys"),
  }),
  "keys rotate": (plant) => ({
    argv: ["keys", "rotate", "--older-than", "90d", "--secret-dir", `${HERE}/secrets`, "--yes"],
    env: user(plant),
    routes: keyRoutes(plant),
    keeps: inSecrets,
    patient: true,
  }),
  apply: (plant) => ({
    argv: ["apply", `${HERE}/book.yaml`, "--yes", "--rate", "0"],
    env: user(plant),
    given: { "book.yaml": book },
    routes: {
      "GET /users/me": () => me,
      "GET /orgs/partners/me": () => ({ id: ID, slug: "acme", maxOrganizations: null }),
      "GET /orgs/organizations": () => paged([]),
      "POST /orgs/organizations": () => ({ id: ID, slug: "harbor", name: "Harbor" }),
      "POST /enrollment-keys": () => ({ id: OTHER, name: "rollout", key: plant("new key") }),
    },
    failing: (request) => request === "POST /enrollment-keys",
    keeps: inSecrets,
    patient: true,
  }),
  plan: (plant) => ({
    argv: ["plan", `${HERE}/book.yaml`],
    env: { RMM_API_KEY: `svc_sp_${plant("key")}` },
    given: { "book.yaml": book },
    routes: {
      "GET /partner-api/organizations": () => ({ data: [], nextCursor: null }),
      "GET /partner-api/sites": () => ({ data: [], nextCursor: null }),
    },
    failing: () => true,
  }),
  "auth switch": (plant) => {
    const before = signedIn(plant, LATER, ["auth", "switch", "Harbor Dental"]);
    const routes = {
      ...before.routes,
      "GET /users/me/memberships": () => ({
        data: [{ id: ID, tenantId: OTHER, tenantName: "Harbor Dental", kind: "organization" }],
      }),
      [`POST /users/me/memberships/${ID}/select`]: () => tokens(plant),
    };
    return { ...before, routes };
  },
  api: (plant) => ({
    argv: ["api", "POST", "/api-keys", "--input", `${HERE}/body.json`],
    env: user(plant),
    given: { "body.json": JSON.stringify({ orgId: ID, name: "ci" }) },
    routes: { "POST /api-keys": () => ({ id: ID, key: plant("new key") }) },
    prints: isNew,
  }),
  "devices import": (plant) => ({
    argv: ["devices", "import", `${HERE}/new.csv`, "--provision", "--secret-dir", `${HERE}/secrets`],
    env: user(plant),
    given: { "new.csv": "org,site,hostname,osType\nacme-west,HQ,till-1,windows\n" },
    routes: {
      "GET /devices": () => ({ devices: [], nextCursor: null, limit: 1000 }),
      "GET /orgs": () => ({ data: [{ id: ID, slug: "acme-west", name: "Acme West" }] }),
      "GET /orgs/sites": () => paged([{ id: OTHER, orgId: ID, name: "HQ" }]),
      "POST /devices/provision": () => ({
        device: { id: OTHER },
        enrollment: {
          ...{ enrollmentKey: plant("new key"), enrollmentSecret: plant("new secret") },
          ...{ serverUrl: "https://rmm.example", expiresAt: LATER, singleUse: true },
        },
      }),
    },
    keeps: inSecrets,
    patient: true,
  }),
  "webhooks verify": (plant) => {
    const [secret, timestamp, body] = [plant("webhook secret"), "1900000000", '{"id":"e1"}'];
    const signature = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
    const header = (name: string, value: string) => ["--request-header", `X-Webhook-${name}: ${value}`];
    const files = ["--body-file", `${HERE}/body.json`, "--secret-file", `${HERE}/webhook.secret`];
    return {
      argv: [
        "webhooks",
        "verify",
        ...files,
        ...header("Timestamp", timestamp),
        ...header("Signature", `sha256=${signature}`),
      ].concat(["--tolerance", "9000000000"]),
      given: { "body.json": body, "webhook.secret": `${secret}\n` },
      routes: {},
      alone: true,
    };
  },
  "server create-admin": (plant) => ({
    argv: ["server", "create-admin", "--email", "ana@contoso.example", "--password-file", `${HERE}/password.txt`],
    env: { RMM_DATA_DIR: `${HERE}/data` },
    given: { "password.txt": `${plant("password")}-Aa1!\n` },
    routes: {},
    alone: true,
  }),
};

/** They run until Ctrl-C; their own tests look for their secrets: `cli/commands/webhooks/listen.test.ts`, `server/test/e2e/agent-simulate.test.ts`. */
export const endless: readonly string[] = ["agent simulate", "webhooks listen"];

/** Hand-written commands without secrets: they send no credential, or the generated commands cover what they send. */
export const harmless: readonly string[] = [
  "audit anchors",
  "audit export",
  "audit keys",
  "audit list",
  "audit prove",
  "audit report",
  "audit retention",
  "audit retention get",
  "audit retention set",
  "audit search",
  "audit show",
  "audit stats",
  "audit tail",
  "audit verify",
  "audit verify-bundle",
  "auth memberships",
  "auth mfa disable",
  "auth mfa enable",
  "auth mfa recovery-codes",
  "auth mfa step-up",
  "completion bash",
  "completion fish",
  "completion powershell",
  "completion zsh",
  "config explain",
  "devices export",
  "devices run",
  "devices set",
  "devices watch",
  "elevation-requests deny",
  "pam-rules reorder",
  "pam-rules test",
  "elevation-requests stats",
  "elevation-requests watch",
  "diff",
  "export",
  "help",
  "import",
  "import customers",
  "profile add",
  "profile list",
  "profile remove",
  "profile use",
  "quickstart",
  "schema",
  "schema provisioning",
  "completion",
  "server audit-bundle",
  "server doctor",
  "server events",
  "server migrate",
  "server rescue",
  "server start",
  "__complete",
];

const book = `apiVersion: rmm/v1
organizations:
  - slug: harbor
    name: Harbor
    enrollmentKeys: [{ name: rollout, expiresIn: 1d, sink: "file:secrets/rollout.key" }]
`;

/** A login with a second factor that writes its tokens to a file. */
function login(plant: Plant): WrittenCommand {
  return {
    argv: [
      "auth",
      "login",
      "--email",
      "ana@contoso.example",
      "--store=file",
      "--password-file",
      `${HERE}/password.txt`,
      "--code-file",
      `${HERE}/code.txt`,
    ],
    given: { "password.txt": `${plant("password")}\n`, "code.txt": `${plant("code")}\n` },
    routes: {
      "POST /auth/login": () => ({ mfaRequired: true, tempToken: plant("half a sign-in") }),
      "POST /auth/mfa/verify": () => ({ ...tokens(plant), user: { scope: "partner" }, mfaEnrollmentRequired: false }),
      "GET /orgs/partners/me": () => ({ name: "Acme" }),
    },
    keeps: inTokens,
  };
}

function acceptInvite(plant: Plant): WrittenCommand {
  const files = ["--link-file", `${HERE}/invitation.txt`, "--password-file", `${HERE}/password.txt`];
  return {
    argv: ["users", "accept-invite", "--store=file", ...files],
    given: { "invitation.txt": `${plant("invitation")}\n`, "password.txt": `${plant("password")}\n` },
    routes: {
      "POST /auth/accept-invite": () => ({
        ...tokens(plant),
        user: { email: "ana@contoso.example", scope: "partner" },
        mfaEnrollmentRequired: false,
      }),
      "GET /orgs/partners/me": () => ({ name: "Acme" }),
    },
    keeps: inTokens,
  };
}

/** A stored session. If `ends` is past, its access token has expired, so the refresh is the request that fails. */
function signedIn(plant: Plant, ends: string, argv: readonly string[]): WrittenCommand {
  const server = "SERVER";
  const account = "ana@contoso.example";
  const entry = {
    accessToken: plant("old access token"),
    refreshToken: plant("old refresh token"),
    expiresAtMs: Date.parse(ends),
  };
  return {
    argv,
    env: { RMM_CONFIG_DIR: `${HERE}/config` },
    given: {
      "config/config.json": JSON.stringify({
        current: "default",
        profiles: { default: { server, signIns: { [server]: { account, store: "file" } } } },
      }),
      "config/tokens.json": JSON.stringify({ tokens: { [`${server}|default|${account}`]: entry } }),
    },
    routes: { "POST /auth/refresh": () => tokens(plant), "GET /users/me": () => me },
    keeps: inTokens,
  };
}

/** One old key of each kind, and the answers to their rotation. */
function keyRoutes(plant: Plant): Record<string, Route> {
  const dates = { createdAt: OLD, updatedAt: OLD, keyIssuedAt: OLD, expiresAt: LATER, lastUsedAt: null };
  const key = {
    ...dates,
    id: ID,
    orgId: ID,
    name: "ci",
    keyPrefix: "svc_00000000",
    status: "active",
    principalType: "human",
    principalId: null,
  };
  const service = { ...key, id: OTHER, principalType: "service", principalId: ID };
  return {
    "GET /users/me": () => me,
    "GET /orgs": () => ({ data: [{ id: ID, slug: "acme-west", name: "Acme West" }] }),
    "GET /api-keys": () => paged([key, service]),
    "GET /service-principals": () => paged([{ id: ID, name: "exporter" }]),
    "GET /partner-service-principals": () => ({
      data: [{ id: ID, name: "provisioning", status: "active", expiresAt: null, keys: [{ ...key, id: OTHER }] }],
    }),
    "GET /enrollment-keys": () =>
      paged([{ ...dates, id: OTHER, orgId: ID, name: "rollout", maxUsage: 5, usageCount: 0 }]),
    [`POST /api-keys/${ID}/rotate`]: () => ({ id: ID, keyPrefix: "svc_11111111", key: plant("new API key") }),
    [`POST /service-principals/${ID}/rotate`]: () => ({
      apiKeyId: ID,
      keyPrefix: "svc_22222222",
      key: plant("new service key"),
    }),
    [`POST /partner-service-principals/${ID}/keys/${OTHER}/rotate`]: () => ({
      keyId: ID,
      keyPrefix: "svc_sp_3",
      key: plant("new partner key"),
    }),
    [`POST /enrollment-keys/${OTHER}/rotate`]: () => ({ id: OTHER, key: plant("new enrollment key") }),
  };
}
