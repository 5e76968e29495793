import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Seen, type Stub, stubServer } from "#sdk/stub-server";
import { commandsOf } from "./generic/commands-of.ts";
import { type GlobalFlag, globalFlagList } from "./globals.ts";
import { takesFlag } from "./taken-flags.ts";
import { ids, orgs } from "./test-api.ts";
import { leaves } from "./test-leaves.ts";
import { testCommand } from "./test-shell.ts";
import { writtenLines } from "./test-written-lines.ts";

const PARTNER = "99999999-9999-4999-8999-999999999999";
const LATER = "2090-01-01T00:00:00.000Z";
let stub: Stub;
let other: Stub;
let command: ReturnType<typeof testCommand>;
let slow = false;

const me = {
  ...{ id: ids.hq, email: "a@b.example", name: "Ana", scope: "partner", partnerId: PARTNER, orgId: null },
  ...{ orgAccess: "all", permissions: ["*:*"], mfaSatisfied: true, mfaEnabled: true, roleName: "Partner Admin" },
  ...{ siteIds: null, orgIds: null },
};
const tokens = { accessToken: "access-1", refreshToken: "refresh-1", tokenType: "Bearer", expiresIn: 0 };
const key = (id: string, name: string) => ({
  ...{ id, name, orgId: ids.contoso, siteId: null, maxUsage: null, usageCount: 0, createdByPrincipalId: null },
  ...{ keyIssuedAt: "2020-01-01T00:00:00.000Z", expiresAt: LATER },
});
const anchor = {
  ...{ type: "anchor", anchorSeq: 1, chainKind: "organization", chainId: ids.contoso, headChainSeq: 1, entryCount: 1 },
  ...{ headChainHash: "0".repeat(64), merkleRoot: null, prevAnchorHash: null, anchoredAt: "2026-01-01T00:00:00.000Z" },
  ...{ signature: null, signingKeyId: null },
};
const chain = {
  ...{ ok: true, entriesChecked: 1, first: { chainSeq: 1, prevHash: null }, prunedPrefix: false, breakCount: 0 },
  ...{ orgId: null, partnerId: null, head: { chainSeq: 1, chainHash: "ab".repeat(32) }, breaks: [] },
  anchors: { checked: 0, signedCount: 0, latest: null, problems: [] },
  ...{ verifiedAt: "2026-03-02T09:00:00.000Z", durationMs: 1 },
};
const retention = { orgId: ids.contoso, retentionDays: 365, configured: true, archiveToS3: false, lastCleanupAt: null };
const list = (data: readonly unknown[]) => ({ data, pagination: { page: 1, limit: 100, total: data.length } });
const membership = { id: ids.hq, tenantId: PARTNER, tenantName: "Harbor", kind: "partner", status: "active" };
/** More than the fifty that a list shows. */
const keys = Array.from({ length: 60 }, (_, at) => key(at === 0 ? ids.twin : `id-${at}`, `key-${at}`));

const device = {
  ...{ id: ids.twin, orgId: ids.contoso, siteId: ids.hq, hostname: "pc-1", displayName: null, orgName: "Contoso" },
  ...{
    siteName: "HQ",
    status: "online",
    osType: "windows",
    osVersion: "11",
    tags: ["kiosk"],
    customFields: { rack: 4 },
  },
  ...{ deviceRole: "workstation", lastSeenAt: "2026-03-02T08:59:00.000Z", agentVersion: "1.0.0" },
};
const ordered = { id: ids.hq, deviceId: ids.twin, orgId: ids.contoso, type: "reboot", status: "pending", result: null };

const elevation = {
  ...{ id: ids.twin, status: "pending", flowType: "uac_intercept", deviceHostname: "pc-1", subjectUsername: "jana" },
  ...{ requestedAt: "2026-01-01T00:00:00.000Z", riskTier: null, requestedDurationMinutes: null },
};

const entry = {
  ...{ id: ids.twin, timestamp: "2026-01-01T00:00:00.000Z", action: "device.update", result: "success" },
  ...{ user: { email: "a@b.example" }, resource: { type: "device", name: "pc-1" } },
};
const answers: Readonly<Record<string, unknown>> = {
  "GET /users/me": me,
  "GET /orgs/partners/me": { id: PARTNER, name: "Acme", slug: "acme" },
  "GET /users/me/memberships": { items: [membership], ...list([membership]) },
  [`POST /users/me/memberships/${ids.hq}/select`]: { ...tokens, user: me },
  "POST /auth/login": { mfaRequired: false, ...tokens, mfaEnrollmentRequired: false, user: me },
  "POST /auth/logout": {},
  "POST /auth/refresh": tokens,
  "POST /auth/mfa/setup": { secret: "ABC", otpAuthUrl: "otpauth://x", qrCodeDataUrl: "data:", recoveryCodes: ["r-1"] },
  "GET /orgs": { data: orgs },
  "GET /orgs/organizations": list(orgs),
  "GET /filters": { data: [], total: 0 },
  "POST /filters": { id: ids.hq, name: "Kiosks" },
  "GET /orgs/sites": list([{ id: ids.hq, orgId: ids.contoso, name: "HQ" }]),
  "GET /enrollment-keys": list(keys),
  [`POST /enrollment-keys/${ids.twin}/rotate`]: { ...keys[0], key: "new-secret" },
  "POST /enrollment-keys": { ...keys[0], key: "new-secret" },
  "POST /audit-logs/verify": chain,
  "POST /audit-logs/export": { data: [], total: 0, truncated: false, oldest: null },
  "GET /audit-logs/logs": list([entry]),
  "GET /audit-logs/search": { ...list([entry]), query: "device" },
  [`GET /audit-logs/logs/${ids.twin}`]: entry,
  [`GET /audit-logs/logs/${ids.twin}/proof`]: { entry: { id: ids.twin }, proof: { format: "ap1" } },
  "GET /audit-logs/stats": { totalEvents: 1, byCategory: [{ category: "device", count: 1 }], byUser: [] },
  "GET /devices": { devices: [device], nextCursor: null, limit: 100 },
  [`GET /devices/${ids.twin}`]: device,
  [`POST /devices/${ids.twin}/commands`]: ordered,
  [`GET /devices/${ids.twin}/commands/${ids.hq}`]: { ...ordered, status: "completed", result: { status: "completed" } },
  "GET /custom-fields": list([{ fieldKey: "rack", type: "number", options: null, orgId: null, deviceTypes: null }]),
  [`PATCH /devices/${ids.twin}`]: device,
  [`PATCH /devices/${ids.twin}/custom-fields`]: { customFields: { rack: 7 } },
  "GET /pam/elevation-requests": { requests: [elevation], pagination: { page: 1, limit: 100, total: 1 } },
  ...Object.fromEntries(
    [ids.twin, ids.hq].flatMap((id) => [
      [`GET /pam/elevation-requests/${id}`, { ...elevation, id, events: [] }],
      [`POST /pam/elevation-requests/${id}/respond`, { success: true, id, status: "approved" }],
    ]),
  ),
  [`GET /orgs/organizations/${ids.contoso}/audit-retention`]: retention,
  [`PUT /orgs/organizations/${ids.contoso}/audit-retention`]: retention,
  "GET /pam/rules": {
    rules: ["Ask", "Deny games"].map((name, at) => ({
      ...{ id: [ids.twin, ids.hq][at], orgId: ids.contoso, name, priority: 100, createdAt: `2026-01-0${at + 1}` },
    })),
  },
  ...Object.fromEntries([ids.twin, ids.hq].map((id) => [`PATCH /pam/rules/${id}`, { success: true, rule: { id } }])),
  "POST /pam/rules/preview": {
    comparison: {
      ...{ matches: true, isAbout: true, isAtSite: true, isInWindow: true },
      criteria: [{ criterion: "user", wanted: "pat", negated: false, compared: "met" }],
    },
  },
  "GET /audit-logs/anchors": { ...list([anchor]), publicKey: null, publicKeys: [] },
};

async function answer({ method, path }: Seen) {
  if (slow) await new Promise((resolve) => setTimeout(resolve, 60));
  const body = answers[`${method} ${new URL(path, "http://stub").pathname.replace("/api/v1", "")}`];
  return body === undefined ? { status: 404, body: { error: "none", code: "NOT_FOUND" } } : { body };
}

beforeAll(async () => {
  [stub, other] = [await stubServer(answer), await stubServer(answer)];
});
afterAll(async () => {
  await Promise.all([stub.close(), other.close()]);
});

const tenants = `apiVersion: rmm/v1
organizations:
  - slug: contoso-dental
    name: Contoso Dental
`;

/** Commands of a stored sign-in; its token is renewed at once. */
const storedFor = /^auth (logout|switch|token)$/;

/** A place of its own for each run: what one run leaves is no difference between two. */
async function ran(name: string, flags: (dir: string) => string[], { tty }: { tty: boolean }) {
  command = testCommand();
  const files = join(command.dir, "files");
  mkdirSync(files);
  writeFileSync(join(files, "tenants.yaml"), tenants);
  writeFileSync(join(files, "customers.csv"), "Customer,City\nHarbor,Kiel\nKranz,Ulm\n");
  writeFileSync(join(files, "devices.csv"), `id,org,displayName\n${ids.twin},,Front desk\n`);
  writeFileSync(join(command.dir, "token"), "token-of-bo");
  const login = ["auth", "login", "--email", "a@b.example", "--password-stdin", "--store=file"];
  for (const [profile, { url }] of [
    ["main", stub],
    ["other", other],
  ] as const) {
    await command.run(["profile", "add", profile, "--server", url, "--org", profile === "main" ? "" : "fabrikam"]);
    if (storedFor.test(name)) await command.run([...login, "--profile", profile], { stdin: "Secret-Value-1" });
  }
  stub.seen.length = 0;
  other.seen.length = 0;
  const line = writtenLines(files)[name]!;
  const stored = storedFor.test(name);
  const stdin = line.stdin ?? "token-of-bo";
  const result = await command.run([...name.split(" "), ...line.argv, ...flags(command.dir)], {
    env: stored ? {} : { RMM_TOKEN: "token-of-ana" },
    stdin,
    ...(tty ? { tty, answers: ["", "123456"], columns: 24 } : {}),
  });
  const requests = [stub, other].flatMap((one) =>
    one.seen.map(({ method, path, headers, body }) =>
      JSON.stringify([one.url, method, path, headers.authorization, headers["x-idempotency-key"], body]),
    ),
  );
  const left = existsSync(files) ? readdirSync(files).toSorted() : [];
  const profiles = await command.run(["profile", "list", "--json"]);
  const text = (value: string) => value.replaceAll(command.dir, "DIR").replaceAll(/\d+(\.\d+)? ?(ms|s)\b/g, "TIME");
  command.close();
  return {
    ...result,
    stdout: text(result.stdout),
    stderr: text(result.stderr),
    requests,
    left,
    profiles: profiles.stdout,
  };
}

/** What is added to the line of the first run, and to that of the second. */
function tryOf(name: string, flag: GlobalFlag): { before: string[]; after(dir: string): string[]; tty?: boolean } {
  const { field = "" } = writtenLines("")[name] ?? {};
  const sample: Partial<Record<GlobalFlag, string[]>> = {
    server: ["--server", other.url],
    profile: ["--profile", "other"],
    org: ["--org", name === "auth login" ? ids.contoso : "fabrikam"],
    jq: ["--jq", "[.. | scalars]"],
    columns: ["--columns", field],
    limit: ["--limit", "1"],
    timeout: ["--timeout", "1ms"],
    "idempotency-key": ["--idempotency-key", "key-of-mine"],
  };
  if (flag === "json=") return { before: ["--json"], after: () => [`--json=${field}`] };
  if (flag === "token-file") return { before: [], after: (dir) => ["--token-file", join(dir, "token")] };
  if (flag === "no-header" || flag === "wide") {
    const before = name === "audit verify" ? ["--all", "--columns", field] : [];
    return { before, after: () => [...before, `--${flag}`], tty: true };
  }
  if (flag === "confirm") return { before: [], after: () => ["--confirm=2"] };
  if (flag === "insecure-http") {
    const connects = !name.startsWith("profile ");
    const before = ["--server", "http://10.0.0.5", ...(connects ? ["--timeout", "50ms"] : [])];
    return { before, after: () => [...before, "--insecure-http"] };
  }
  const added = sample[flag] ?? [`--${flag}`];
  return { before: [], after: () => added, tty: flag === "columns" && name !== "auth mfa setup" };
}

/** Shown where a whole run of the command is: a plan takes a server that has organizations, a wait takes hours. */
const elsewhere: Readonly<Record<string, readonly GlobalFlag[]>> = {
  plan: ["json=", "ndjson", "jq"],
  apply: ["json=", "ndjson", "jq", "dry-run"],
  diff: ["json=", "ndjson", "jq"],
  "audit verify": ["wait", "wide"],
  // The commands of an endpoint, whose organization is an argument: `cli/flag-effects.test.ts` has them.
  "audit retention get": ["org"],
  "audit retention set": ["org", "wide", "no-header", "confirm"],
  "keys rotate": ["limit", "all", "no-header", "wide"],
  "auth logout": ["insecure-http"],
  "auth switch": ["insecure-http"],
  "profile add": ["insecure-http"],
  // Their one field is the whole answer.
  "auth token": ["json=", "insecure-http"],
  "profile remove": ["json="],
};

it("a global flag that a written command takes has an effect", async () => {
  let seen = 0;
  const idle: string[] = [];
  for (const leaf of await leaves()) {
    const name = leaf.path.join(" ");
    const [noun = "", verb = ""] = leaf.path.slice(-2);
    const isEndpoint = (await commandsOf(noun)).some((one) => one.name === verb);
    const line = writtenLines("")[name];
    if (line === undefined ? isEndpoint : line.long) continue;
    const flags = [...globalFlagList.map(({ name: flag }) => flag), "json=" as const];
    // Most flags are added to the same plain run.
    const known = new Map<string, Awaited<ReturnType<typeof ran>>>();
    for (const flag of flags.filter((one) => takesFlag(leaf.command, one))) {
      if (["json", "yes", "no-input", "debug", "quiet", ...(elsewhere[name] ?? [])].includes(flag)) continue;
      if (name.startsWith("server ") && name !== "server doctor") continue;
      const { before, after, tty = false } = tryOf(name, flag);
      const key = JSON.stringify([before, tty]);
      const one = known.get(key) ?? (await ran(name, () => before, { tty }));
      known.set(key, one);
      // Without the flag a slow server makes no difference.
      slow = flag === "timeout";
      const two = await ran(name, after, { tty });
      slow = false;
      expect(two.stderr, `${name} ${flag}`).not.toContain("does not take");
      if (isDeepStrictEqual(one, two)) idle.push(`${name} ${flag}\n${two.stdout}\n${two.stderr}`);
      if (flag === "dry-run")
        expect(
          two.requests.filter((text) => !text.includes('"GET"')),
          name,
        ).toEqual([]);
      seen++;
    }
  }
  expect(idle).toEqual([]);
  expect(seen).toBeGreaterThan(100);
}, 240_000);
