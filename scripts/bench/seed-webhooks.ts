import { plainWebhook } from "#fixtures/nouns/integrations/webhooks";
import { plainOrganization } from "#fixtures/nouns/tenancy/organizations";
import { plainPartner } from "#fixtures/nouns/tenancy/partners";
import { asSystem } from "#server/db/as-system";
import { sealSecret, sealUrl } from "#server/features/integrations/webhooks/sealed";
import type { Services } from "#server/services";

export interface SeededWebhook {
  readonly id: string;
  readonly orgId: string;
}

/** For each list of addresses an organization with a webhook for each of them, which takes every event. */
export async function seedWebhooks(
  services: Services,
  organizations: readonly (readonly string[])[],
): Promise<SeededWebhook[]> {
  const db = asSystem(services, "deliver webhooks");
  const { random, vault, clock } = services;
  const stamps = { createdAt: clock.now(), updatedAt: clock.now() };
  const partnerId = random.uuid();
  const partner = { ...plainPartner("bench"), id: partnerId, ...stamps };
  await db.insertInto("partners").values(partner).execute();
  const made: SeededWebhook[] = [];
  for (const [n, urls] of organizations.entries()) {
    const orgId = random.uuid();
    const organization = { ...plainOrganization(`bench-${n}`), id: orgId, partnerId, ...stamps };
    await db.insertInto("organizations").values(organization).execute();
    for (const url of urls) {
      const id = random.uuid();
      const sealed = { urlSealed: sealUrl(vault, id, url), secretSealed: sealSecret(vault, id, "whsec_of-the-bench") };
      const webhook = { ...plainWebhook(clock.now()), ...sealed, id, orgId, target: url, writtenBy: "system" as const };
      await db
        .insertInto("webhooks")
        .values({ ...webhook, createdBy: null, events: ["*"] })
        .execute();
      made.push({ id, orgId });
    }
  }
  return made;
}
