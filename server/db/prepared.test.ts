import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { databases, seedPartner, startTestServer, type TestServer } from "../test/harness.ts";
import { prepared } from "./prepared.ts";
import { type Scope, wallOf } from "./scope.ts";
import { scoped } from "./scoped.ts";
import { ownership, type TableName } from "./tables.ts";
import { UnitOfWork } from "./unit-of-work.ts";

const userId = "01a20000-0000-7000-8000-000000000001";
const siteById = prepared(["id"], (db, at) => db.selectFrom("sites").select(["id", "orgId"]).where("id", "=", at.id));

describe.each(databases)("a prepared query on %s", (database) => {
  let server: TestServer;
  const partners: { partnerId: string; orgIds: string[] }[] = [];
  const sites: { id: string; orgId: string; partnerId: string }[] = [];
  /** Members and principals that reach the first organization of their partner only. */
  const chosen: { partnerId: string; orgId: string; membershipId: string; principalId: string }[] = [];

  beforeAll(async () => {
    server = await startTestServer(database);
    for (const name of ["a", "b"]) {
      const made = await seedPartner(server, name, [`${name}-one`, `${name}-two`]);
      partners.push(made);
      for (const orgId of made.orgIds) for (const site of ["HQ", "Branch"]) await addSite(made.partnerId, orgId, site);
      await choose(made.partnerId, made.orgIds[0] as string);
    }
  });
  afterAll(() => server?.stop());

  async function addSite(partnerId: string, orgId: string, name: string): Promise<void> {
    const id = server.services.random.uuid();
    const now = server.clock.now();
    const row = { id, orgId, name, timezone: "UTC", address: null, contact: null, settings: {} };
    await server.db
      .insertInto("sites")
      .values({ ...row, createdAt: now, updatedAt: now })
      .execute();
    sites.push({ id, orgId, partnerId });
  }

  async function choose(partnerId: string, orgId: string): Promise<void> {
    const { token, userId } = await server.signIn({ role: "Partner Admin", partnerId });
    const { id: membershipId } = await server.db
      .selectFrom("partnerUsers")
      .select("id")
      .where("userId", "=", userId)
      .executeTakeFirstOrThrow();
    await server.db.insertInto("partnerUserOrgs").values({ partnerId, membershipId, orgId }).execute();
    const body = { name: "exporter", orgAccess: "selected", orgIds: [orgId] };
    const principal = await server.request("POST", "/partner-service-principals", { token, body });
    expect(principal.status, JSON.stringify(principal.body)).toBe(201);
    chosen.push({ partnerId, orgId, membershipId, principalId: principal.body.id });
  }

  const kinds = (): Scope[] => [
    { kind: "system" },
    { kind: "none" },
    ...partners.flatMap(({ partnerId }): Scope[] => [
      { kind: "partner", partnerId, selected: null, userId, known: new Set() },
      { kind: "partner", partnerId, selected: null, userId: null, known: new Set() },
      { kind: "partner", partnerId, selected: "none", userId, known: new Set() },
    ]),
    ...chosen.flatMap(({ partnerId, membershipId, principalId }): Scope[] => {
      const base = { kind: "partner", partnerId, userId: null, known: new Set<string>() } as const;
      return [
        { ...base, selected: membershipId, userId },
        { ...base, selected: null, principal: { id: principalId, selected: true } },
        { ...base, selected: null, principal: { id: principalId, selected: false } },
      ];
    }),
    ...sites.flatMap(({ id, orgId }): Scope[] => [
      { kind: "organization", orgId, siteIds: null, userId: null },
      { kind: "organization", orgId, siteIds: null, userId },
      { kind: "organization", orgId, siteIds: [], userId },
      { kind: "organization", orgId, siteIds: [id], userId },
      {
        kind: "organization",
        orgId,
        siteIds: sites.filter((one) => one.orgId === orgId).map((one) => one.id),
        userId,
      },
    ]),
  ];
  const sees = (scope: Scope, site: (typeof sites)[number]): boolean => {
    if (scope.kind === "partner") {
      if (scope.partnerId !== site.partnerId || scope.selected === "none") return false;
      const isChosen = chosen.some(({ orgId }) => orgId === site.orgId);
      return isChosen || (scope.selected === null && scope.principal?.selected !== true);
    }
    if (scope.kind === "organization")
      return scope.orgId === site.orgId && (scope.siteIds === null || scope.siteIds.includes(site.id));
    return scope.kind === "system";
  };

  it("sees in every kind of scope what that scope reaches, whichever scope compiled the query first", async () => {
    for (const scopes of [kinds(), kinds().reverse()]) {
      for (const scope of scopes) {
        for (const site of sites) {
          const unit = new UnitOfWork(server.services, scope);
          const told = JSON.stringify({ scope, site });
          const found = await siteById(unit.reader, { id: site.id });
          expect(found?.id, told).toBe(sees(scope, site) ? site.id : undefined);
          const inside = await unit.transaction((tx) => siteById(tx, { id: site.id }));
          expect(inside?.id, told).toBe(found?.id);
        }
      }
    }
  });

  it("narrows every table to the same rows by key and by partner as by set", async () => {
    const tables = (Object.keys(ownership) as TableName[]).filter((table) => ownership[table] !== "system");
    const seen = new Set<TableName>();
    for (const scope of kinds()) {
      if (scope.kind === "organization" && scope.orgId !== sites[0]?.orgId) continue;
      const base = server.services.store.connection(wallOf(scope));
      for (const table of tables) {
        const rows = async (db: typeof base) =>
          (await db.selectFrom(table).selectAll().execute()).map((row) => JSON.stringify(row)).sort();
        const bySet = await rows(scoped(base, scope));
        for (const by of ["key", "partner"] as const)
          expect(await rows(scoped(base, scope, { by })), `${table} ${JSON.stringify(scope)} ${by}`).toEqual(bySet);
        if (bySet.length > 0) seen.add(table);
      }
    }
    // Rows of each kind of owner that a new installation has.
    for (const table of ["partners", "organizations", "sites", "users", "roles", "auditLogs", "partnerUsers"] as const)
      expect(seen).toContain(table);
  });
});
