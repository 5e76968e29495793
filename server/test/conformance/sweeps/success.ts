import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mutates } from "#contract/core/endpoint";
import { type RefName, refs } from "#contract/core/generated/refs";
import { places, rowOfRef, type Tenant } from "#fixtures/world";
import { eventsAfter, lastEvent } from "../../events-of.ts";
import type { Answer, DatabaseName } from "../../harness.ts";
import { aboutNoun, type Case, cases, scopeOfExample } from "../cases.ts";
import { idsIn, refuseWrongEvents } from "../declared-events.ts";
import { entriesOf } from "../entries-of.ts";
import { type Ready, type Swept, startSweep } from "../sweep.ts";

/** The example of every endpoint succeeds, writes exactly one audit entry, and tells the events that it declares. */
export const sweepSuccess = (database: DatabaseName) =>
  describe(`success and its record on ${database}`, () => {
    let swept: Swept;
    beforeAll(async () => {
      swept = await startSweep(database, { outside: true });
    });
    afterAll(() => swept?.stop());

    it.each(cases)("$name answers what the contract says, tells of it, and leaves one entry", async (item) => {
      const tenant = await swept.freshTenant();
      const options = await swept.prepared(item, tenant);
      const before = await lastEvent(swept.db);
      const answer = await swept.call(item, options);
      expect(answer.status, JSON.stringify(answer.body)).toBe(item.endpoint.status);
      refuseWrongEvents(item, await eventsAfter(swept.db, before), {
        owners: [tenant.orgId, tenant.partnerId, ...idsIn([item.example(tenant).params, answer.body])],
        ids: idsIn([tenant, options, item.example(tenant), answer.body]),
      });
      const entries = await entriesOf(swept, answer);
      const own = entries.filter(({ action }) => action === item.endpoint.audit);
      expect(own.map(({ result }) => result)).toEqual(mutates(item.endpoint) ? ["success"] : []);
      for (const entry of own) {
        expect(namedBy(item, options, answer), `${entry.action} is about ${entry.resourceId}`).toContain(
          entry.resourceId,
        );
        expect([tenant.partnerId, tenant.orgId, entry.resourceId]).toContain(entry.orgId ?? entry.partnerId);
        if (isOfSite(item)) expect(entry.details["siteIds"], entry.action).toEqual(expect.any(Array));
      }
    });

    const deniable = cases.filter(({ endpoint }) => mutates(endpoint) && endpoint.access.permissions.length > 0);
    it.each(deniable)("$name leaves one entry when it is denied, and changes nothing", async (item) => {
      const { a } = swept.world;
      const { token } = await swept.caller(scopeOfExample(item, a), a, { permissions: [] });
      const answer = await swept.call(item, { tenant: a, token });
      expect(answer.status).toBe(403);
      // The audit entry of a refusal is written after the answer.
      await expect.poll(() => entriesOf(swept, answer), { interval: 2, timeout: 5_000 }).toHaveLength(1);
      const [entry] = await entriesOf(swept, answer);
      expect(entry).toMatchObject({ action: item.endpoint.audit, result: "denied" });
    });

    const idempotent = cases.filter(({ endpoint }) => endpoint.idempotent);
    it.each(idempotent)("$name is done once for one idempotency key, and answered alike again", async (item) => {
      const tenant = await swept.freshTenant();
      const options = await swept.prepared(item, tenant);
      const headers = { ...options.headers, "x-idempotency-key": `sweep-${item.name}` };
      const first = await swept.call(item, { ...options, headers });
      expect([first.status, first.headers.get("idempotency-replayed")]).toEqual([item.endpoint.status, null]);
      const again = await swept.unchanged(() => swept.call(item, { ...options, headers }));
      expect(again.headers.get("idempotency-replayed")).toBe("true");
      expect([again.status, again.body]).toEqual([first.status, first.body]);
      // Repeated writes of a partner key have their own entries; repeats of a user have none.
      if (!item.endpoint.access.kinds.includes("partnerKey")) expect(await entriesOf(swept, again)).toEqual([]);
    });
  });

/** Whether it acts on a site, or on rows that lie at one (server/docs/audit.md, "Who reads which entries"). */
function isOfSite({ endpoint: { noun, refs: named } }: Case): boolean {
  const { thing, kinds = {} } = aboutNoun(noun);
  const about = [thing, ...Object.keys(kinds), ...Object.values(named)] as (RefName | undefined)[];
  return about.some((kind) => kind === "site" || places[rowOfRef[kind as RefName] as keyof Tenant] === "first site");
}

/** Ids that the entry may be about: the created row; else a row in the request or the answer, or the caller. */
function namedBy(item: Case, { tenant, person, ...options }: Ready, answer: Answer): (string | null)[] {
  const { params, query, body } = item.example(tenant);
  const { refs: names, noun } = item.endpoint;
  const ofNoun = Object.entries((params ?? {}) as Record<string, string>)
    .filter(([name]) => refs[names[name] as keyof typeof refs] === noun)
    .map(([, id]) => id);
  const asked = idsIn([params, query, body, options.params, options.query, options.body]);
  const device = item.endpoint.access.kinds.includes("agent") ? [tenant.deviceId] : [];
  if (item.endpoint.status === 201) return [...idsIn(answer.body), ...ofNoun, ...device];
  // An export has no single row, a filter that nobody saved has none.
  const unsaved = ["partner_api.export", "audit_logs.export", "filter.preview"].includes(String(item.endpoint.audit));
  const everything = unsaved ? [null] : [];
  const whose = [...(person ? [person.userId] : []), tenant.partnerId];
  return [...asked, ...idsIn(answer.body), ...device, ...everything, ...whose];
}
