import { findUserById, type SignInUser } from "#server/features/people/core/find-user";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";

/** The caller's account as it is stored; the entry of the call is about it. */
export async function ownAccount(call: Pick<Call, "who" | "readAsSystem" | "audit">): Promise<SignInUser> {
  const { userId } = user(call);
  const account = await call.readAsSystem("sign-in", (db) => findUserById(db, userId));
  if (!account) throw problem("UNAUTHENTICATED");
  call.audit.note({ resource: { type: "user", id: account.id, name: account.name } });
  return account;
}
