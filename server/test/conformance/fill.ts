import { expect } from "vitest";
import { seedOrganization, type Tenant } from "#fixtures/world";
import { allCases, caseOf, namedTenant } from "./cases.ts";
import type { Swept } from "./sweep.ts";

/** Examples that create rows in an organization and that its partner may call. */
const creates = allCases.filter(({ endpoint, example }) => {
  const { params, body, prepare } = example(namedTenant);
  const where = JSON.stringify([params, (body as { orgId?: string } | undefined)?.orgId]);
  const ofOrganization = where.includes(namedTenant.orgId);
  return endpoint.status === 201 && endpoint.access.scopes.includes("partner") && !prepare && ofOrganization;
});

/** Of the field that every organization of the fixtures has. */
export const A_VALUE = { asset_number: "A1" };

/**
 * Puts everything there is into the tenant's second organization: rows of every noun, the example of every create, as
 * its partner's administrator, an enrolled device, tags and custom values.
 */
export async function fillNextDoor(swept: Swept, tenant: Tenant): Promise<void> {
  const place = { partnerId: tenant.partnerId, orgId: tenant.secondOrgId };
  const own = await seedOrganization(swept.db, swept.server.services, place, `door-${tenant.partnerId}`);
  const there: Tenant = { ...tenant, ...own };
  const { token } = await swept.caller("partner", tenant);
  expect(creates.length).toBeGreaterThan(5);
  for (const item of creates) {
    const answer = await swept.call(item, { tenant: there, token });
    // Two examples may create the same row.
    expect([201, 409], `${item.name}: ${JSON.stringify(answer.body)}`).toContain(answer.status);
  }
  const enroll = caseOf("agents.enroll");
  const answer = await swept.call(enroll, await swept.prepared(enroll, there));
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  // Tags are told by a word instead of an id.
  await swept.db
    .updateTable("devices")
    .set({ tags: ["next-door"], customFields: A_VALUE })
    .where("orgId", "=", there.orgId)
    .execute();
  await swept.server.settled();
}
