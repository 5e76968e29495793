import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mutates } from "#contract/core/endpoint";
import type { Tenant } from "#fixtures/world";
import { ownership, type TableName } from "#server/db/tables";
import { type Answer, databases } from "../harness.ts";
import { type IdField, idFields, valueFor } from "./ids.ts";
import { type CallOptions, type Case, cases, type Swept, startSweep } from "./sweep.ts";

/**
 * Rows of a tenant at its first site. The callers here are confined to the second site and must not see, count or
 * change them (docs/conventions.md, "Site rule"). A new row of the world does not compile until it says which site it
 * is at.
 */
const places = {
  partnerId: "elsewhere",
  orgId: "elsewhere",
  secondOrgId: "elsewhere",
  siteId: "first site",
  secondSiteId: "second site",
  contactId: "first site",
  apiKeyId: "whole organization",
  servicePrincipalId: "whole organization",
  enrollmentKeyId: "first site",
  partnerPrincipalId: "elsewhere",
  partnerKeyId: "elsewhere",
  partnerKey: "elsewhere",
  deviceId: "first site",
  memberId: "whole organization",
  invitedId: "whole organization",
  auditLogId: "whole organization",
  ssoProviderId: "whole organization",
  ssoDomainId: "whole organization",
  agentToken: "first site",
  agentId: "first site",
} as const satisfies Record<keyof Tenant, string>;

/** Changes that a caller confined to sites may make although they name no site. */
const mayChange: Readonly<Record<string, string>> = {
  "sessions.logout": "its own session",
  "sessions.remove": "its own session",
  "mfa.verify": "its own second factor",
  "mfa.setup": "its own second factor",
  "mfa.enable": "its own second factor",
  "mfa.stepUp": "its own second factor",
  "mfa.disable": "its own second factor",
  "mfa.recoveryCodes": "its own second factor",
  "passwords.change": "its own password",
  "users.updateMe": "its own profile",
  "ssoLogins.startLink": "its own account's identity",
  "users.resendInvite": "a mail goes out again; nothing is granted and no link shown (invitations.test.ts)",
};

describe.each(databases)("callers confined to a site on %s", (database) => {
  let swept: Swept;
  beforeAll(async () => {
    swept = await startSweep(database);
  });
  afterAll(() => swept?.server.stop());

  const confined = async (tenant: Tenant) =>
    (await swept.caller("organization", tenant, { siteIds: [tenant.secondSiteId] })).token;
  const unconfined = async (tenant: Tenant) => (await swept.caller("organization", tenant)).token;
  const idsAtFirstSite = (tenant: Tenant): string[] =>
    Object.entries(places)
      .filter(([, place]) => place === "first site")
      .map(([name]) => tenant[name as keyof Tenant]);

  const inOrganization = cases.filter(
    ({ endpoint }) => endpoint.access.kinds.includes("user") && endpoint.access.scopes.includes("organization"),
  );
  const text = (value: unknown) => JSON.stringify(value ?? null);
  const names = (item: Case, tenant: Tenant, part: "params" | "query" | "body") =>
    idsAtFirstSite(tenant).some((id) => text(item.example(tenant)[part]).includes(id));

  /** The example with this field naming that id; what leaves it out of the example may collide with it. */
  const withField = (item: Case, tenant: Tenant, field: IdField, id: string): CallOptions => {
    const example = item.example(tenant);
    const value = valueFor(field, id);
    return field.at === "query"
      ? { tenant, query: { ...(example.query as object), [field.name]: value } }
      : { tenant, body: { ...(example.body as object), [field.name]: value } };
  };
  const refused = (answer: Answer) =>
    expect(
      [
        [403, "SITE_ACCESS_DENIED"],
        [404, "NOT_FOUND"],
      ],
      text(answer.body),
    ).toContainEqual([answer.status, answer.body.code]);

  const fake = new Proxy({}, { get: (_, name) => `<${String(name)}>` }) as Tenant;
  const byPath = inOrganization.filter((item) => names(item, fake, "params"));
  it.each(byPath)("$name refuses a row of another site", async (item) => {
    const tenant = await swept.freshTenant();
    refused(await swept.call(item, { tenant, token: await confined(tenant) }));
    const allowed = await swept.call(item, { tenant, token: await unconfined(tenant) });
    expect(allowed.status, "refused for another reason than the site").toBeLessThan(400);
  });

  const byField = inOrganization.flatMap((item) =>
    idFields(item.endpoint)
      .filter(({ row }) => places[row] === "first site")
      .map((field) => ({ ...item, field, label: `${item.name} ${field.at}.${field.name}` })),
  );
  it.each(byField)("$label of another site is refused, or finds nothing", async ({ field, ...item }) => {
    const tenant = await swept.freshTenant();
    const token = await confined(tenant);
    // What the example names in its path would be refused before the field is looked at.
    const params = atSecondSite(item, tenant, await copiesAt(tenant, tenant.secondSiteId));
    const answer = await swept.call(item, { ...withField(item, tenant, field, tenant[field.row]), ...params, token });
    if (answer.status >= 300) return refused(answer);
    expect(mutates(item.endpoint), text(answer.body)).toBe(false);
    for (const id of idsAtFirstSite(tenant)) expect(text(answer.body)).not.toContain(id);
    expect(totalOf(answer) ?? 0).toBe(0);
  });

  const reads = inOrganization.filter(({ endpoint }) => endpoint.method === "GET");
  const lists = reads.filter((item) => item.endpoint.paging !== undefined && !names(item, fake, "params"));
  it.each(lists)("$name shows nothing of another site: no row, no count", async (item) => {
    const tenant = await swept.freshTenant();
    const token = await confined(tenant);
    const before = await swept.call(item, { tenant, token });
    if (before.status === 403) return refused(before);
    expect(before.status, text(before.body)).toBe(200);
    const strangers = await copiesAt(tenant, tenant.siteId);
    const device = tenant.agentToken;
    await swept.server.request("POST", `/agents/${tenant.deviceId}/rotate-token`, { token: device });
    await swept.server.settled();
    const after = await swept.call(item, { tenant, token });
    for (const id of [...idsAtFirstSite(tenant), ...strangers.values()])
      for (const answer of [before, after]) expect(text(answer.body)).not.toContain(id);
    expect(totalOf(after)).toBe(totalOf(before));
    const known = await copiesAt(tenant, tenant.secondSiteId);
    const seesOwn = text((await swept.call(item, { tenant, token, query: { limit: "100" } })).body);
    const all = text((await swept.call(item, { tenant, token: await unconfined(tenant) })).body);
    // A list that shows rows of sites to others shows those of the caller's own sites to it.
    if ([...strangers.values()].some((id) => all.includes(id)))
      expect([...known.values()].some((id) => seesOwn.includes(id))).toBe(true);
  });

  const others = reads.filter((item) => item.endpoint.paging === undefined && !names(item, fake, "params"));
  it.each(others)("$name tells nothing of another site", async (item) => {
    const tenant = await swept.freshTenant();
    const answer = await swept.call(item, { tenant, token: await confined(tenant) });
    for (const id of idsAtFirstSite(tenant)) expect(text(answer.body)).not.toContain(id);
  });

  const wide = inOrganization.filter(
    ({ endpoint, name, ...item }) =>
      endpoint.method !== "GET" && !(name in mayChange) && !names({ endpoint, name, ...item }, fake, "params"),
  );
  it.each(wide)("$name changes nothing of the whole organization", async (item) => {
    const tenant = await swept.freshTenant();
    const answer = await swept.call(item, { tenant, token: await confined(tenant) });
    expect(answer.status, text(answer.body)).toBe(403);
  });

  /** Parameters that name rows at the caller's own site instead. */
  function atSecondSite(item: Case, tenant: Tenant, copies: ReadonlyMap<string, string>): Pick<CallOptions, "params"> {
    const moved = new Map([...copies, [tenant.siteId, tenant.secondSiteId]]);
    const params = Object.entries((item.example(tenant).params ?? {}) as Record<string, string>);
    return { params: Object.fromEntries(params.map(([name, id]) => [name, moved.get(id) ?? id])) };
  }

  /** A copy of every row at the first site, at the given one; by the id of what was copied. */
  async function copiesAt(tenant: Tenant, siteId: string): Promise<Map<string, string>> {
    const copies = new Map<string, string>();
    const tables = (Object.keys(ownership) as TableName[]).filter((table) => ownership[table].startsWith("org+site"));
    for (const table of tables as ("devices" | "contacts" | "enrollmentKeys")[]) {
      const row = await swept.server.db
        .selectFrom(table as "devices")
        .selectAll()
        .where("orgId", "=", tenant.orgId)
        .where("siteId", "=", tenant.siteId)
        .executeTakeFirst();
      expect(row, `the world has nothing in ${table} at its first site`).toBeDefined();
      const id = randomUUID();
      const copy = Object.fromEntries(
        Object.entries({ ...row, id, siteId }).map(([name, value]) => [
          name,
          /hash|agentId/i.test(name) && value !== null
            ? randomBytes(32).toString("hex")
            : name === "isPrimary"
              ? false
              : value,
        ]),
      );
      await swept.server.db
        .insertInto(table)
        .values(copy as never)
        .execute();
      copies.set(row!.id, id);
    }
    return copies;
  }

  it("exceptions are about endpoints that exist", () => {
    for (const name of Object.keys(mayChange)) expect(cases.map((item) => item.name)).toContain(name);
  });
});

const totalOf = ({ body }: Answer): number | undefined => body.pagination?.total ?? body.total;
