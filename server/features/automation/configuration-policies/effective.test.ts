import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FeatureType, featureTypes, policyFeatures } from "#contract/core/generated/policy-features";
import { seedTenant, type Tenant } from "#fixtures/world";
import { makeDevices } from "../../../test/devices.ts";
import { makeSite } from "../../../test/enroll.ts";
import { databases, startTestServer, type TestServer } from "../../../test/harness.ts";
import { effectiveFeatures, organizationFeature } from "./effective.ts";

const levels = ["device", "device_group", "site", "organization", "partner"] as const;

/** A policy with one assignment, by the places of its owner and its target in what the test made. */
interface Plan {
  owner: "organization" | "partner";
  status: "active" | "inactive" | "archived";
  types: FeatureType[];
  level: (typeof levels)[number];
  /** Which of the targets of that level. */
  at: number;
  priority: number;
  age: number;
  roleFilter: ("server" | "workstation")[] | null;
  osFilter: ("windows" | "linux")[] | null;
}

const filter = <T>(...of: T[]) => fc.option(fc.subarray(of, { minLength: 1 }), { nil: null });
const plan: fc.Arbitrary<Plan> = fc.record({
  owner: fc.constantFrom("organization", "partner"),
  status: fc.constantFrom("active", "active", "active", "inactive", "archived"),
  types: fc.subarray(featureTypes as FeatureType[], { minLength: 1 }),
  level: fc.constantFrom(...levels),
  at: fc.nat(2),
  priority: fc.nat(1),
  age: fc.nat(1),
  roleFilter: filter<"server" | "workstation">("server", "workstation"),
  osFilter: filter<"windows" | "linux">("windows", "linux"),
});

describe.each(databases)("which policy holds on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;
  let targets: Record<(typeof levels)[number], { id: string; orgId: string | null }[]>;
  /** What each device is part of, itself first, the closest level first. */
  let parts: Map<string, { role: string; os: string; orgId: string; of: Record<(typeof levels)[number], string[]> }>;

  beforeAll(async () => {
    server = await startTestServer(database);
    acme = await seedTenant(server.db, server.services, "acme");
    const { orgId, secondOrgId, partnerId, siteId } = acme;
    await server.db.deleteFrom("configurationPolicies").execute();
    const depot = await makeSite(server, secondOrgId, "Depot");
    const devices = await makeDevices(server, [
      { orgId, siteId, deviceRole: "server", osType: "windows" },
      { orgId, siteId, deviceRole: "workstation", osType: "linux" },
      { orgId: secondOrgId, siteId: depot, deviceRole: "workstation", osType: "windows" },
    ]);
    const [one, two, three] = devices as [string, string, string];
    const group = async (org: string, members: string[]) => {
      const id = server.services.random.uuid();
      const now = server.clock.now();
      const plain = {
        siteId: null,
        description: null,
        type: "static" as const,
        filterConditions: null,
        byClock: false,
      };
      const empty = { filterFieldsUsed: [], filterGroupIds: [], filterVersion: 0, parentId: null, createdBy: null };
      await server.db
        .insertInto("deviceGroups")
        .values({ id, orgId: org, name: id, nameKey: id, ...plain, ...empty, createdAt: now, updatedAt: now })
        .execute();
      const rows = members.map((deviceId) => ({ orgId: org, groupId: id, deviceId }));
      await server.db
        .insertInto("deviceGroupMembers")
        .values(rows.map((row) => ({ ...row, isPinned: false, addedAt: now, addedBy: "manual" as const })))
        .execute();
      return { id, orgId: org };
    };
    const [both, first, second] = [
      await group(orgId, [one, two]),
      await group(orgId, [one]),
      await group(secondOrgId, [three]),
    ];
    targets = {
      device: [one, two, three].map((id) => ({ id, orgId: id === three ? secondOrgId : orgId })),
      device_group: [both, first, second],
      site: [
        { id: siteId, orgId },
        { id: depot, orgId: secondOrgId },
      ],
      organization: [
        { id: orgId, orgId },
        { id: secondOrgId, orgId: secondOrgId },
      ],
      partner: [{ id: partnerId, orgId: null }],
    };
    const of = (device: string, groups: string[], site: string, org: string) => ({
      ...{ device: [device], device_group: groups, site: [site], organization: [org], partner: [partnerId] },
    });
    parts = new Map([
      [one, { role: "server", os: "windows", orgId, of: of(one, [both.id, first.id], siteId, orgId) }],
      [two, { role: "workstation", os: "linux", orgId, of: of(two, [both.id], siteId, orgId) }],
      [
        three,
        { role: "workstation", os: "windows", orgId: secondOrgId, of: of(three, [second.id], depot, secondOrgId) },
      ],
    ]);
  }, 60_000);
  afterAll(() => server?.stop());

  type Made = Plan & {
    id: string;
    assignmentId: string;
    targetId: string;
    orgId: string | null;
    policyOrgId: string | null;
  };

  /** An organization's policy lies where its target does, and covers no whole partner. */
  function place(one: Plan): Omit<Made, "id" | "assignmentId"> {
    const level = one.owner === "organization" && one.level === "partner" ? "organization" : one.level;
    const target = targets[level][one.at % targets[level].length] as { id: string; orgId: string | null };
    const policyOrgId = one.owner === "organization" ? (target.orgId as string) : null;
    return { ...one, level, targetId: target.id, orgId: target.orgId, policyOrgId };
  }

  async function store(plans: readonly Plan[]): Promise<Made[]> {
    await server.db.deleteFrom("configurationPolicies").execute();
    const uuid = () => server.services.random.uuid();
    const made = plans.map(place).map((one) => ({ ...one, id: uuid(), assignmentId: uuid() }));
    for (const one of made) {
      const owner =
        one.policyOrgId === null
          ? { orgId: null, partnerId: acme.partnerId }
          : { orgId: one.policyOrgId, partnerId: null };
      const { id, status, level, targetId, priority, roleFilter, osFilter } = one;
      const now = server.clock.now();
      await server.db
        .insertInto("configurationPolicies")
        .values({
          id,
          ...owner,
          name: id,
          description: null,
          status,
          version: 1,
          createdBy: null,
          createdAt: now,
          updatedAt: now,
        })
        .execute();
      await server.db
        .insertInto("configurationPolicyFeatures")
        .values(one.types.map((type) => ({ id: uuid(), policyId: id, ...owner, type, settings: { by: id } })))
        .execute();
      const whose =
        one.orgId === null ? { orgId: null, partnerId: acme.partnerId } : { orgId: one.orgId, partnerId: null };
      await server.db
        .insertInto("configurationPolicyAssignments")
        .values({
          ...{ id: one.assignmentId, policyId: id, ...whose, level, targetId, priority, roleFilter, osFilter },
          ...{
            siteId: null,
            groupId: null,
            deviceId: null,
            assignedBy: null,
            createdAt: `2026-01-0${1 + one.age}T00:00:00.000Z`,
          },
          ...(level === "site" ? { siteId: targetId } : {}),
          ...(level === "device_group" ? { groupId: targetId } : {}),
          ...(level === "device" ? { deviceId: targetId } : {}),
        })
        .execute();
    }
    return made;
  }

  /** Walks outwards and takes the first that there is, by hand. */
  function expected(made: readonly Made[], deviceId: string, type: FeatureType): string | null {
    const device = parts.get(deviceId);
    if (!device) throw new Error("no such device");
    for (const level of levels) {
      const here = made.filter(
        (one) =>
          one.status === "active" &&
          one.types.includes(type) &&
          one.level === level &&
          device.of[level].includes(one.targetId) &&
          (one.roleFilter === null || one.roleFilter.some((role) => role === device.role)) &&
          (one.osFilter === null || one.osFilter.some((os) => os === device.os)),
      );
      for (const priority of [0, 1])
        for (const age of [0, 1]) {
          const ids = here.filter((one) => one.priority === priority && one.age === age).map((one) => one.assignmentId);
          const [first] = ids.toSorted();
          if (first !== undefined) return made.find((one) => one.assignmentId === first)?.id ?? null;
        }
    }
    return null;
  }

  it("is the closest that carries the type, however policies and assignments lie", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(plan, { maxLength: 12 }), async (plans) => {
        const made = await store(plans);
        for (const id of parts.keys()) {
          const found = await effectiveFeatures(server.db, { device: { id }, types: featureTypes });
          for (const type of featureTypes) {
            const policyId = expected(made, id, type);
            const by = made.find((one) => one.id === policyId);
            expect(found[type]).toEqual({
              settings: by ? { by: by.id } : policyFeatures[type].fallback,
              sourcePolicyId: policyId,
              sourcePolicyName: policyId,
              sourceLevel: by?.level ?? "default",
              sourceTargetId: by?.targetId ?? null,
            });
          }
        }
      }),
      { numRuns: 60 },
    );
  }, 120_000);

  it("is, for an organization as a whole, what it or its partner is assigned without a filter", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(plan, { maxLength: 12 }), async (plans) => {
        const made = (await store(plans)).map((one) => ({
          ...one,
          ...(one.roleFilter || one.osFilter ? { types: [] } : {}),
        }));
        for (const [deviceId, { orgId }] of parts) {
          const wide = made.filter(({ level }) => level === "organization" || level === "partner");
          const { sourcePolicyId } = await organizationFeature(server.db, orgId, "event_log");
          expect(sourcePolicyId).toBe(expected(wide, deviceId, "event_log"));
        }
      }),
      { numRuns: 40 },
    );
  }, 120_000);
});
