import type { Endpoint } from "#contract/core/endpoint";
import type { users } from "#contract/resources/people/users";
import { isLive } from "#server/features/sign-in/core/user-tokens";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { findInvitation } from "./find-invitation.ts";

type PreviewCall = typeof users.previewInvite extends Endpoint<infer T> ? Call<T> : never;

/** Whom an invitation is for and to what, for the page that accepts it. */
export async function previewInvite(call: PreviewCall) {
  const found = await call.readAsSystem("accept invitation", (db) => findInvitation(db, call.body.token));
  if (!found) throw problem("INVALID_INVITE");
  if (found.token.usedAt !== null) throw problem("INVITE_ALREADY_ACCEPTED");
  if (!isLive(found.token, call.clock.now()) || found.user.status !== "invited") throw problem("INVALID_INVITE");
  return { email: found.user.email, name: found.user.name, ...found.tenant };
}
