import type { Endpoint } from "#contract/core/endpoint";
import type { partnerApi } from "#contract/resources/credentials/partner-api";
import { getNamedOrg } from "#server/access/org-access";
import { insertSite } from "#server/features/tenancy/sites/insert-site";
import type { Call } from "#server/http/call";
import { takeWrite } from "./budgets.ts";
import { recordedWrite } from "./record-write.ts";
import { exportedSite } from "./sites.ts";

type CreateCall = typeof partnerApi.createSite extends Endpoint<infer T> ? Call<T> : never;

/** Creates a site in an organization that the principal reaches, else 403 (docs/credentials.md, "Partner writes"). */
export async function createSite(call: CreateCall) {
  const { orgId, name, timezone, address, contact } = call.body;
  return recordedWrite(call, "sites", async (tx) => {
    const org = await getNamedOrg(call, orgId, tx);
    await takeWrite(call);
    const id = call.random.uuid();
    await insertSite(call, tx, { id, orgId: org.id, name, timezone, address, contact, settings: {} });
    const data = await exportedSite(call, tx, { id, orgId: org.id });
    return {
      answer: { schemaVersion: "1" as const, data },
      written: { action: "site.create", orgId: org.id, id, name, siteIds: [id], details: { timezone } },
    };
  });
}
