import type { Endpoint } from "#contract/core/endpoint";
import type { sessions } from "#contract/resources/sign-in/sessions";
import { ownerOf } from "#server/access/membership";
import { requireHomeSession } from "#server/features/sign-in/core/home-session";
import { revokeSessions } from "#server/features/sign-in/core/revoke-sessions";
import { type Call, user } from "#server/http/call";

type LogoutCall = typeof sessions.logout extends Endpoint<infer T> ? Call<T> : never;

/** Ends the caller's session, or all of them. */
export async function logout(call: LogoutCall) {
  const who = user(call);
  const allSessions = call.body.allSessions ?? false;
  if (allSessions) await requireHomeSession(call);
  return call.transaction(() =>
    call.asSystem("sign-in", async (tx) => {
      const which = {
        userId: who.userId,
        ...(allSessions ? {} : { only: who.sessionId }),
      };
      const ended = await revokeSessions(tx, which, "signed out", call.clock.now());
      call.audit.note({ resource: { type: "user", id: who.userId, name: who.name }, details: { allSessions, ended } });
      call.emit("user.logout", { ...ownerOf(who), data: { userId: who.userId, userName: who.name, allSessions } });
      return { success: true as const };
    }),
  );
}
