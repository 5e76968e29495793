import type { Endpoint } from "#contract/core/endpoint";
import type { sessions } from "#contract/resources/sign-in/sessions";
import { ownerOf } from "#server/access/membership";
import { revokeSessions } from "#server/features/sign-in/core/revoke-sessions";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import { openSessions } from "./queries.ts";

type RemoveCall = typeof sessions.remove extends Endpoint<infer T> ? Call<T> : never;

/** Ends one of the caller's sessions; those of other people are not found. */
export async function removeSession(call: RemoveCall) {
  const who = user(call);
  const { id } = call.params;
  return call.transaction(() =>
    call.asSystem("sign-in", async (tx) => {
      const now = call.clock.now();
      const { open } = await openSessions(tx, who, now);
      const found = await open.select("id").where("id", "=", id).executeTakeFirst();
      const ended = found ? await revokeSessions(tx, { userId: who.userId, only: id }, "signed out", now) : 0;
      if (ended === 0) throw problem("NOT_FOUND");
      call.audit.note({
        resource: { type: "user", id: who.userId, name: who.name },
        details: { endedSessionId: id, current: id === who.sessionId },
      });
      const data = { userId: who.userId, userName: who.name, allSessions: false };
      call.emit("user.logout", { ...ownerOf(who), data });
      return { success: true as const };
    }),
  );
}
