import { asSystem } from "#server/db/as-system";
import type { Services } from "#server/services";
import { isPublished } from "./published.ts";

const AT_ONCE = 10;

/** Looks at every proven domain again and notes when. A record that is gone takes nothing away: it is only logged. */
export async function recheckDomains(services: Services): Promise<void> {
  const db = asSystem(services, "recheck domains");
  const domains = await db.selectFrom("ssoDomains").selectAll().where("verifiedAt", "is not", null).execute();
  for (let at = 0; at < domains.length; at += AT_ONCE) {
    const some = domains.slice(at, at + AT_ONCE);
    const found = await Promise.all(some.map((domain) => isPublished(services, domain)));
    for (const [index, domain] of some.entries()) {
      if (!found[index]) services.log.warn("sso.domain_record_missing", { orgId: domain.orgId, domain: domain.domain });
      await db
        .updateTable("ssoDomains")
        .set({ lastCheckedAt: services.clock.now() })
        .where("id", "=", domain.id)
        .execute();
    }
  }
}
