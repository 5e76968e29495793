import { type Call, user } from "#server/http/call";
import { openSessions } from "./queries.ts";

/** The caller's sessions that can still be used, the last used first. */
export async function listSessions(call: Call) {
  const who = user(call);
  const rows = await call.readAsSystem("sign-in", async (db) => {
    const { open } = await openSessions(db, who, call.clock.now());
    return open
      .select(["id", "createdAt", "lastUsedAt", "ipAddress", "userAgent", "mfaVerifiedAt"])
      .orderBy("lastUsedAt", "desc")
      .orderBy("id", "desc")
      .execute();
  });
  const data = rows.map(({ mfaVerifiedAt, ...session }) => ({
    ...session,
    mfaVerified: mfaVerifiedAt !== null,
    current: session.id === who.sessionId,
  }));
  return { data };
}
