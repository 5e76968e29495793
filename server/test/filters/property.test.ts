import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkFilter } from "#contract/core/filters/check-filter";
import type { FilterGroup } from "#contract/core/filters/condition";
import type { Scope } from "#server/db/scope";
import { wallOf } from "#server/db/scope";
import { scoped } from "#server/db/scoped";
import type { Meets } from "#server/filters/context";
import { conditionMaker, seesDecommissioned } from "#server/filters/device-condition";
import { finderOf } from "#server/filters/find-devices";
import { databases, startTestServer, type TestServer } from "../harness.ts";
import { inProof, PROOF_TIMEOUT_MS } from "../proving.ts";
import { filters, NOW } from "./arbitraries.ts";
import type { PlainDevice, PlainGroup } from "./plain-device.ts";
import { satisfies } from "./plain-evaluator.ts";
import { makeWorld, type World } from "./world.ts";

const SEED = Number(process.env["FILTER_SEED"] ?? Date.now() % 2 ** 31);
const DEVICES = 150;

interface View {
  readonly scope: Scope;
  readonly orgId?: string;
  sees(device: PlainDevice): boolean;
  readonly seesGroups?: boolean;
}

describe.each(databases)(`filters mean the same on %s as in plain words (FILTER_SEED=${SEED})`, (database) => {
  let server: TestServer;
  let world: World;

  beforeAll(async () => {
    server = await startTestServer(database);
    world = await makeWorld(server, DEVICES, SEED);
  });
  afterAll(() => server?.stop());

  interface Asked {
    readonly scope: Scope;
    readonly orgId?: string;
    readonly meets: Meets;
    /** Comparisons of custom fields that are written in full: with none, all look at columns. */
    readonly written: number;
  }

  async function found(filter: FilterGroup, { scope, orgId, meets, written }: Asked) {
    const { store } = server.services;
    // As lists of a whole partner narrow, and as everything else does.
    const db = scoped(store.connection(wallOf(scope)), scope, meets === "some" ? {} : { by: "devices" });
    const options = { now: NOW, dialect: store.dialect, written, ...(orgId === undefined ? {} : { orgId }) };
    const condition = await (await conditionMaker(db, filter, options))(meets);
    let query = db.selectFrom("devices").select("devices.id").where(condition);
    if (orgId !== undefined) query = query.where("devices.orgId", "=", orgId);
    return (await query.execute()).map(({ id }) => id).toSorted();
  }

  /** As previews find them: by what indexes know, or all at once. Devices out of service are seen where a condition names them. */
  async function previewed(
    filter: FilterGroup,
    { scope, orgId, fewest, written }: Omit<Asked, "meets"> & { fewest: number },
  ) {
    const { store } = server.services;
    const db = scoped(store.connection(wallOf(scope)), scope);
    const finding = { db, scope, dialect: store.dialect, now: NOW, orgId, fewest, written };
    const { first } = await finderOf(finding, filter);
    const { matches, totalCount } = await first(DEVICES);
    expect(totalCount).toBe(matches.length);
    return matches.map(({ id }) => id).toSorted();
  }

  const expected = (filter: PlainGroup, { sees, seesGroups = true }: View) => {
    const known = { nowMs: Date.parse(NOW), definitions: world.definitions };
    return world.devices
      .filter((device) => sees(device) && satisfies(seesGroups ? device : { ...device, groupIds: [] }, filter, known))
      .map(({ id }) => id)
      .toSorted();
  };

  it("for any conditions, nested as they may be", { timeout: PROOF_TIMEOUT_MS }, async () => {
    const [acme, globex] = world.partners as [World["partners"][number], World["partners"][number]];
    const partner = {
      kind: "partner",
      partnerId: acme.partnerId,
      selected: null,
      userId: null,
      known: new Set<string>(),
    } as const;
    const orgId = globex.orgIds[0] as string;
    const siteIds = [world.siteIds[0] as string];
    const views: View[] = [
      { scope: { kind: "system" }, sees: () => true },
      { scope: partner, sees: (device) => device.partnerId === acme.partnerId },
      { scope: { kind: "organization", orgId, siteIds: null, userId: null }, sees: (device) => device.orgId === orgId },
      {
        scope: { kind: "organization", orgId: acme.orgIds[0] as string, siteIds, userId: null },
        sees: (device) => device.siteId === siteIds[0],
        // They are of whole organizations.
        seesGroups: false,
      },
      { scope: partner, orgId: acme.orgIds[1] as string, sees: (device) => device.orgId === acme.orgIds[1] },
    ];
    const ids = [...acme.orgIds, ...globex.orgIds, ...world.siteIds, ...world.groupIds];
    await fc.assert(
      fc.asyncProperty(
        filters(ids),
        fc.constantFrom(...views),
        fc.constantFrom<Meets>("wanted", "all", "some"),
        fc.constantFrom(0, 20, 1_000),
        fc.constantFrom(0, 1_000),
        async (filter, view, meets, fewest, written) => {
          const checked = checkFilter(filter);
          if ("errors" in checked) throw new Error(JSON.stringify(checked.errors));
          const matched = await found(checked.filter, { ...view, meets, written });
          expect(matched).toEqual(expected(filter, view));
          const isShown = ({ status }: PlainDevice) =>
            status !== "decommissioned" || seesDecommissioned(checked.filter);
          const shown = expected(filter, { ...view, sees: (device) => view.sees(device) && isShown(device) });
          expect(await previewed(checked.filter, { ...view, fewest, written })).toEqual(shown);
        },
      ),
      { numRuns: inProof({ long: 10_000, short: 400 }), seed: SEED },
    );
  });
});
