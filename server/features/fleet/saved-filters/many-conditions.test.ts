import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FilterCondition, FilterGroup } from "#contract/core/filters/condition";
import { chunks } from "#server/db/chunks";
import { HOUR } from "#server/platform/clock";
import { makeDevices } from "../../../test/devices.ts";
import { databases, type SignedInUser, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";
import { sweepGroups } from "../device-groups/sweep-groups.ts";

const NOW = "2026-01-01T00:00:00.000Z";
const CONDITIONS = 1_000;

/** How each organization defines the field, what its device has stored, and whether the device is one of `anyOf`. */
const organizations = [
  { type: "text", default: "v3", found: true },
  { type: "text", default: "other", found: false },
  { type: "number", default: 7, found: true },
  { type: "boolean", default: true, found: true },
  { type: "date", default: "2026-03-01", found: true },
  { type: "text", stored: "v999", found: true },
  { type: "dropdown", default: "v5", systems: ["linux"], found: false },
  { type: "dropdown", default: "v5", systems: ["windows"], found: true },
  { stored: "v1", found: true },
  { type: "number", stored: "v1", found: false },
  { type: "number", default: 8, stored: 7, found: true },
  { type: "text", default: "v8", found: true },
  { type: "boolean", default: false, found: false },
  { type: "text", default: "v1", stored: "other", found: false },
] as const;
type Definition = { type?: "text"; default?: unknown; stored?: unknown; systems?: "windows"[]; found: boolean };

const grade = (operator: FilterCondition["operator"], value?: string): FilterCondition => ({
  ...{ field: "custom.grade", operator },
  ...(value === undefined ? {} : { value }),
});
const many = (operator: "AND" | "OR", make: (at: number) => FilterCondition): FilterGroup => ({
  operator,
  conditions: Array.from({ length: CONDITIONS }, (_, at) => make(at)),
});
const typed: Record<number, string> = { 7: "7", 10: "true", 11: "2026-03-01" };
const oneOf = (at: number) => grade("equals", typed[at] ?? `v${at}`);
const anyOf = many("OR", oneOf);

/** The same conditions, in groups as deep as they may be. */
function deep(): FilterGroup {
  const [first, ...rest] = chunks(anyOf.conditions, 16);
  const root: FilterGroup = { operator: "OR", conditions: first ?? [] };
  return rest.reduce<FilterGroup>(
    (inner, conditions) => ({ operator: "OR", conditions: [inner, ...conditions] }),
    root,
  );
}

describe.each(databases)("filters of a thousand conditions on %s", (database) => {
  let server: TestServer;
  let admin: SignedInUser;
  let orgIds: string[];
  let partnerId: string;

  const define = async (rows: readonly { fieldKey: string; orgId: string | null; definition: Definition }[]) => {
    const made = rows.map(({ fieldKey, orgId, definition: { type = "text", default: value, systems } }) => ({
      ...{ id: server.services.random.uuid(), name: fieldKey, options: null, required: false, fieldKey, type },
      ...{ orgId, partnerId: orgId === null ? partnerId : null, deviceTypes: systems ?? null },
      ...{ defaultJson: value === undefined ? null : JSON.stringify(value), createdAt: NOW, updatedAt: NOW },
    }));
    for (const some of chunks(made)) await server.db.insertInto("customFields").values(some).execute();
  };

  beforeAll(async () => {
    server = await startTestServer(database);
    const slugs = organizations.map((_, at) => `acme-${at}`);
    ({ partnerId, orgIds } = await seedPartner(server, "acme", slugs));
    admin = await server.signIn({ role: "Partner Admin", partnerId });
    const sites = orgIds.map((orgId) => ({
      ...{ id: server.services.random.uuid(), orgId, name: "Site", timezone: "UTC", address: null, contact: null },
      ...{ settings: {}, createdAt: NOW, updatedAt: NOW },
    }));
    await server.db.insertInto("sites").values(sites).execute();
    const all = organizations.map((definition, at) => ({
      definition: definition as unknown as Definition,
      orgId: orgIds[at] as string,
    }));
    await define(all.filter(({ definition }) => definition.type).map((one) => ({ ...one, fieldKey: "grade" })));
    const devices = all.map(({ definition: { stored }, orgId }, at) => ({
      ...{ orgId, siteId: sites[at]?.id as string, hostname: hostname(at) },
      customFields: (stored === undefined ? {} : { grade: stored }) as never,
    }));
    await makeDevices(server, devices);
  });
  afterAll(() => server?.stop());

  const hostname = (at: number) => `pc-${String(at).padStart(2, "0")}`;
  const found = organizations.flatMap((one, at) => (one.found ? [hostname(at)] : []));
  /** A person may ask sixty times a minute. */
  const send = async (path: string, body?: object) => {
    server.clock.advance(2_000);
    const answer = await server.request("POST", path, { token: admin.token, ...(body ? { body } : {}) });
    expect([answer.status, answer.body.code]).toEqual([answer.status < 300 ? answer.status : 200, undefined]);
    return answer.body;
  };
  const shown = ({ data }: { data: { devices: { hostname: string }[] } }) => data.devices.map((one) => one.hostname);
  const preview = async (conditions: FilterGroup, query = "") =>
    shown(await send(`/filters/preview${query}`, { conditions, limit: 100 }));

  it("read one custom field as each organization defines it, side by side and nested", async () => {
    expect(await preview(anyOf)).toEqual(found);
    expect(await preview(deep())).toEqual(found);
    expect(await preview(many("AND", () => grade("isNull")))).toEqual([6, 9].map(hostname));
    expect(await preview(many("AND", () => grade("isNotNull")))).toHaveLength(organizations.length - 2);
    // Texts alone: other types have no such operator.
    const texts = [0, 1, 5, 7, 8, 11, 13].map(hostname);
    expect(await preview(many("AND", (at) => grade("notContains", `w${at}`)))).toEqual(texts);
    expect(await preview(many("AND", () => grade("greaterThan", "6")))).toEqual([2, 10].map(hostname));
    expect(await preview(anyOf, `?orgId=${orgIds[7]}`)).toEqual([hostname(7)]);
    expect(await preview(anyOf, `?orgId=${orgIds[6]}`)).toEqual([]);
  });

  it("are answered when they are saved, and by pages", async () => {
    const { id } = await send("/filters", { orgId: orgIds[0], name: "Any", conditions: anyOf });
    expect(shown(await send(`/filters/${id}/preview?limit=100`))).toEqual(found);
    const page = await send("/devices/query", { conditions: anyOf, limit: 4, includeTotal: true });
    expect(page.total).toBe(found.length);
    const rest = await send("/devices/query", { conditions: anyOf, limit: 100, cursor: page.nextCursor });
    expect([...page.devices, ...rest.devices].map((one: { hostname: string }) => one.hostname)).toEqual(found);
  });

  it("keep a group up to date whatever definitions are added", async () => {
    const body = { orgId: orgIds[8], name: "Any", type: "dynamic", filterConditions: anyOf };
    const { id, deviceCount } = await send("/groups", body);
    expect(deviceCount).toBe(1);
    await define([{ fieldKey: "grade", orgId: null, definition: { type: "text", default: "v2", found: true } }]);
    server.clock.advance(HOUR);
    await sweepGroups(server.services);
    const group = server.db.selectFrom("deviceGroups").select(["lastEvaluationError", "attemptedAt"]);
    const { lastEvaluationError, attemptedAt } = await group.where("id", "=", id).executeTakeFirstOrThrow();
    expect([lastEvaluationError, attemptedAt]).toEqual([null, server.clock.now()]);
    admin = await server.signIn({ role: "Partner Admin", partnerId });
    expect(shown(await send(`/groups/${id}/preview`, {}))).toEqual([hostname(8)]);
    expect(await preview(anyOf)).toEqual(found);
  });

  it("may be on more custom fields than one row of values has, of two types each", async () => {
    const owners = ["text", "number"].map((type, at) => {
      return { orgId: orgIds[at] as string, definition: { type: type as "text", found: false } };
    });
    const keys = Array.from({ length: 120 }, (_, at) => `field_${at}`);
    await define(keys.flatMap((fieldKey) => owners.map((owner) => ({ fieldKey, ...owner }))));
    const isNull = (at: number): FilterCondition => ({ field: `custom.${keys[at % keys.length]}`, operator: "isNull" });
    expect(await preview(many("AND", isNull))).toHaveLength(organizations.length);
  });
});
