import type { Endpoint } from "#contract/core/endpoint";
import type { auditRetention } from "#contract/resources/audit/audit-retention";
import { type AccessibleOrg, getWritableOrg, refuseSiteRestricted } from "#server/access/org-access";
import { lockRow } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import { notify } from "#server/features/people/notifications/notify";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import { enforcement, holdRetention } from "./queries.ts";

type SetCall = typeof auditRetention.set extends Endpoint<infer T> ? Call<T> : never;

/**
 * Keeps entries this long. No administrator of a customer shortens what is recorded of them: a lower value, and a first
 * one, are the partner's to set, and told to whoever reads the record there (docs/audit.md, "Retention").
 */
export async function setAuditRetention(call: SetCall) {
  const { retentionDays: to } = call.body;
  return call.transaction(async (tx) => {
    const org = await getWritableOrg(call, call.params.id, tx);
    refuseSiteRestricted(call);
    call.audit.note({ resource: { id: org.id, name: org.name }, owner: { orgId: org.id } });
    const lastCleanupAt = await call.asSystem("set audit retention", (all) => change(call, all, org, to));
    return {
      orgId: org.id,
      retentionDays: to,
      configured: true,
      archiveToS3: false as const,
      lastCleanupAt,
      ...enforcement(call.services),
    };
  });
}

/** Answers when entries were last removed. */
async function change(call: Call, all: Tx, org: AccessibleOrg, to: number): Promise<string | null> {
  const { dialect } = call.services.store;
  // A first value has no row that could be held.
  await lockRow(all, dialect, "auditRetention", org.id);
  const before = await holdRetention(all, org.id, dialect);
  const from = before?.retentionDays ?? null;
  call.audit.note({ details: { from, to } });
  const shortens = from === null || to < from;
  if (shortens && user(call).scope === "organization") throw problem("FORBIDDEN");
  const now = call.clock.now();
  const set = { retentionDays: to, updatedAt: now };
  if (before) await all.updateTable("auditRetention").set(set).where("orgId", "=", org.id).execute();
  else
    await all
      .insertInto("auditRetention")
      .values({ ...set, orgId: org.id, lastCleanupAt: null, createdAt: now })
      .execute();
  if (shortens) await tell(call, all, org, { from, to });
  return before?.lastCleanupAt ?? null;
}

async function tell(call: Call, all: Tx, org: AccessibleOrg, { from, to }: { from: number | null; to: number }) {
  const was = from === null ? "They were kept for ever." : `They were kept ${from} days.`;
  await notify(all, call.services, {
    about: { partnerId: org.partnerId },
    to: { holding: "audit:read" },
    type: "security",
    priority: "high",
    title: `Audit entries of ${org.name} are kept ${to} days`,
    message: `${was} ${user(call).email} changed it; older entries are removed daily.`,
    metadata: { orgId: org.id, from, to },
  });
}
