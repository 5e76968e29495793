import type { Endpoint } from "#contract/core/endpoint";
import type { pamConfig } from "#contract/resources/access-control/pam-config";
import { orgForCreate, refuseSiteRestricted } from "#server/access/org-access";
import type { Call } from "#server/http/call";

type ReplaceCall = typeof pamConfig.replace extends Endpoint<infer T> ? Call<T> : never;

/** Holds for whatever is decided after the commit. */
export async function replaceConfig(call: ReplaceCall) {
  refuseSiteRestricted(call);
  const { defaultUnmatchedVerdict } = call.body;
  return call.transaction(async (tx) => {
    const { id: orgId, name } = await orgForCreate(call, call.body.orgId, tx);
    call.audit.note({ resource: { id: orgId, name }, owner: { orgId }, details: { defaultUnmatchedVerdict } });
    const updatedAt = call.clock.now();
    await call.asSystem("write rules of elevations", (all) =>
      all
        .insertInto("pamConfigs")
        .values({ orgId, defaultUnmatchedVerdict, updatedAt })
        .onConflict((on) => on.column("orgId").doUpdateSet({ defaultUnmatchedVerdict, updatedAt }))
        .execute(),
    );
    return { success: true as const, config: { orgId, defaultUnmatchedVerdict } };
  });
}
