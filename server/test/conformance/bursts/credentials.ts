import { seedPartnerPrincipal } from "#fixtures/nouns/credentials/partner-service-principals";
import { keyGuesses } from "#server/access/key-throttle";
import { caseOf } from "../cases.ts";
import { ADDRESS, always, type Burst, useUp } from "./burst.ts";

export const credentialsBursts: readonly Burst[] = [
  {
    limit: "key",
    noun: "partner-api",
    left: 20,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      const key = swept.db.updateTable("partnerServicePrincipalKeys").where("id", "=", tenant.partnerKeyId);
      await key.set({ rateLimit: 20 }).execute();
      return always("partnerApi.organizations", { tenant, headers: { "x-api-key": tenant.partnerKey } });
    },
  },
  {
    limit: "principal",
    noun: "partner-api",
    left: 20,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      const { partnerPrincipalId: id, partnerKey } = tenant;
      const principal = swept.db.updateTable("partnerServicePrincipals").where("id", "=", id);
      await principal.set({ rateLimit: 20 }).execute();
      return always("partnerApi.organizations", { tenant, headers: { "x-api-key": partnerKey } });
    },
  },
  {
    limit: "key-guess",
    noun: "api-keys",
    byAddress: true,
    left: 10,
    async ready(swept) {
      await useUp(swept, keyGuesses, ADDRESS, 10);
      const { a } = swept.world;
      return always("partnerApi.organizations", { tenant: a, headers: { "x-api-key": `svc_sp_${"a".repeat(43)}` } });
    },
  },
  {
    limit: "partner-writes",
    noun: "partner-api",
    left: 120,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      const headers = { "x-api-key": tenant.partnerKey };
      const body = { orgId: tenant.orgId, address: { city: "Bilbao" } };
      const item = caseOf("partnerApi.createSite");
      return (number) => ({ item, options: { tenant, headers, body: { ...body, name: `Site ${number}` } } });
    },
  },
  {
    limit: "partner-mints",
    noun: "partner-api",
    left: 10,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      return always("partnerApi.createEnrollmentKey", { tenant, headers: { "x-api-key": tenant.partnerKey } });
    },
  },
  {
    limit: "partner-mints-all",
    noun: "partner-api",
    left: 100,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      const keys: string[] = [];
      // Each principal may mint ten.
      for (let made = 0; made < 12; made += 1) {
        const name = `pipeline ${made}`;
        const seeded = await seedPartnerPrincipal(swept.db, swept.server.services, tenant.partnerId, name);
        keys.push(seeded.partnerKey);
      }
      const item = caseOf("partnerApi.createEnrollmentKey");
      return (number) => ({
        item,
        options: { tenant, headers: { "x-api-key": keys[number % keys.length] as string } },
      });
    },
  },
];
