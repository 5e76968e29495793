import type { Reader } from "#server/db/unit-of-work";
import { homeMembershipId } from "#server/features/sign-in/core/home-session";
import type { KnownMembership } from "#server/features/sign-in/core/invitation";
import { type Call, user } from "#server/http/call";
import { ownMemberships } from "./own.ts";

/** The caller's memberships and invitations, the oldest first. */
export async function listOwn(call: Pick<Call, "who" | "clock" | "readAsSystem">) {
  const who = user(call);
  return call.readAsSystem("own memberships", async (db) => {
    const { rows } = await ownMemberships(db, who, call.clock.now());
    return { data: await viewAll(call, db, rows) };
  });
}

/** As the API shows them. */
export async function viewAll(call: Pick<Call, "who" | "clock">, db: Reader, rows: readonly KnownMembership[]) {
  const { userId: id, email } = user(call);
  const home = await homeMembershipId(db, { id, email }, call.clock.now());
  const person = await db.selectFrom("users").select("selectedMembershipId").where("id", "=", id).executeTakeFirst();
  return rows.map((row) => ({
    id: row.membershipId,
    kind: row.kind,
    tenantId: row.orgId ?? row.partnerId,
    tenantName: row.orgName ?? row.partnerName,
    roleName: row.roleName,
    status: row.acceptedAt === null ? ("invited" as const) : ("active" as const),
    selected: row.membershipId === person?.selectedMembershipId,
    home: row.membershipId === home,
    createdAt: row.createdAt,
  }));
}
