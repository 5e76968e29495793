import type { Endpoint } from "#contract/core/endpoint";
import type { ssoDomains } from "#contract/resources/sign-in/sso-domains";
import { orgForCreate, refuseSiteRestricted } from "#server/access/org-access";
import { writeCredentials } from "#server/access/write-credentials";
import { lockText } from "#server/db/dialect/locks";
import { type Call, user } from "#server/http/call";
import { shownDomain } from "./queries.ts";

type CreateCall = typeof ssoDomains.create extends Endpoint<infer T> ? Call<T> : never;

const TOKEN_BYTES = 24;

/** Names a domain and makes the text that proves it. One that is named already keeps its text, and its proof. */
export async function createDomain(call: CreateCall) {
  refuseSiteRestricted(call);
  return call.transaction(async (tx) => {
    const { domain } = call.body;
    const org = await orgForCreate(call, call.body.orgId, tx);
    await lockText(tx, call.services.store.dialect, `sso-domain:${org.id}:${domain}`);
    const known = await tx
      .selectFrom("ssoDomains")
      .selectAll()
      .where("orgId", "=", org.id)
      .where("domain", "=", domain)
      .executeTakeFirst();
    if (known) {
      call.audit.skip();
      return shownDomain(known);
    }
    const now = call.clock.now();
    const row = {
      id: call.random.uuid(),
      orgId: org.id,
      domain,
      verificationToken: call.random.bytes(TOKEN_BYTES).toString("hex"),
      verifiedAt: null,
      lastCheckedAt: null,
      seenAt: null,
      createdBy: user(call).userId,
      createdAt: now,
      updatedAt: now,
    };
    call.audit.note({ resource: { id: row.id, name: domain }, owner: { orgId: org.id }, details: { domain } });
    await writeCredentials(call, (all) => all.insertInto("ssoDomains").values(row).execute());
    return shownDomain(row);
  });
}
