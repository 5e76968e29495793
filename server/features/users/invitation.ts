import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { queueMail } from "#server/jobs/mail-queue";
import type { Mail } from "#server/platform/mail";
import type { Target } from "./target.ts";
import { issueUserToken } from "./user-tokens.ts";

/** What an invitation's token stands for: the membership that waits for its person. */
export interface Invitation {
  kind: Target["kind"];
  membershipId: string;
}

export interface SentInvitation {
  inviteEmailSent: boolean;
  /** Only where mail is not configured: the administrator hands it over by other means. */
  inviteUrl: string | null;
}

/**
 * Makes the person's invitation, which ends any older one, and queues its mail in the same transaction.
 * Needs an unscoped handle.
 */
export async function sendInvitation(
  call: Pick<Call, "clock" | "random" | "services" | "serverUrl">,
  tx: Tx,
  invited: { id: string; email: string; name: string },
  membership: { target: Target; membershipId: string },
): Promise<SentInvitation> {
  const { target, membershipId } = membership;
  const data = { kind: target.kind, membershipId } satisfies Invitation;
  const token = await issueUserToken(tx, call, { userId: invited.id, kind: "invite", data: { ...data } });
  const url = `${call.serverUrl}/accept-invite#token=${token}`;
  await queueMail(tx, call.services, inviteMail({ ...invited, tenant: target.name, url, token }));
  const { delivers } = call.services.mailer;
  return { inviteEmailSent: delivers, inviteUrl: delivers ? null : url };
}

/** The token stands in the link's fragment, which browsers send to no server and to no linked page. */
function inviteMail(mail: { email: string; name: string; tenant: string; url: string; token: string }): Mail {
  return {
    to: mail.email,
    subject: `You are invited to ${mail.tenant.replace(/[\r\n]+/g, " ")}`,
    text: [
      `Hello ${mail.name},`,
      "",
      `you are invited to ${mail.tenant}. To accept and choose a password, use this within 7 days:`,
      "",
      mail.url,
      "",
      "On the command line: rmm users accept-invite, with this token:",
      "",
      mail.token,
      "",
    ].join("\n"),
  };
}
