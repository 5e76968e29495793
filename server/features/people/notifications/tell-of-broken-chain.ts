import type { ChainRef } from "#server/audit/chain";
import type { Tx } from "#server/db/unit-of-work";
import type { ChainBrokenEvent } from "#server/room-hooks";
import { notify, type Subject } from "./notify.ts";

/** Urgent, to every active person who holds audit:read over the chain, and to the administrators of the installation. */
export async function tellOfBrokenChain({ tx, services, chain }: ChainBrokenEvent): Promise<void> {
  const { name, about } = await ownerOf(tx, chain);
  const notice = {
    to: { holding: "audit:read" as const },
    type: "security" as const,
    priority: "urgent" as const,
    title: `Audit record of ${name} does not hold`,
    message: "It was changed behind the server's back, or parts of it were removed. Verify it to see where.",
    metadata: { chainKind: chain.kind, chainId: chain.id },
  };
  await notify(tx, services, { ...notice, about: "installation" });
  if (about !== undefined) await notify(tx, services, { ...notice, about });
}

/** A record outlives its organization: then the partner goes on reaching it. */
async function ownerOf(tx: Tx, { kind, id }: ChainRef): Promise<{ name: string; about?: Subject }> {
  if (kind === "system") return { name: "the installation" };
  if (kind === "partner") {
    const partner = await tx.selectFrom("partners").select("name").where("id", "=", id).executeTakeFirst();
    return partner ? { name: partner.name, about: { partnerId: id } } : { name: `partner ${id}` };
  }
  const org = await tx
    .selectFrom("organizations")
    .select(["name", "partnerId", "deletedAt"])
    .where("id", "=", id)
    .executeTakeFirst();
  if (!org) return { name: `organization ${id}` };
  const about = org.deletedAt === null ? { orgId: id, siteId: null } : { partnerId: org.partnerId };
  return { name: org.name, about };
}
