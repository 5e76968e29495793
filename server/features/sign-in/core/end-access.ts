import type { UserEvent } from "#server/room-hooks";
import { revokeSessions } from "./revoke-sessions.ts";
import { endInvitation, endUserTokens } from "./user-tokens.ts";

/** Ends what a membership gave: its invitation, the sessions that began in its tenant, and of a closed account everything. */
export async function endAccessOf({
  tx,
  now,
  userId,
  membershipId,
  accountClosed,
  ...begunIn
}: UserEvent): Promise<void> {
  await endInvitation(tx, userId, membershipId);
  await revokeSessions(tx, { userId, begunIn }, "membership ended", now);
  if (!accountClosed) return;
  await revokeSessions(tx, { userId }, "account closed", now);
  await endUserTokens(tx, userId, ["mfa_login", "password_reset"]);
}
