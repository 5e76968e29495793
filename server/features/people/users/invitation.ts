import type { Caller } from "#server/access/org-access";
import type { Tx } from "#server/db/unit-of-work";
import type { Target } from "#server/features/people/core/target";
import { trustedBase } from "#server/features/sign-in/core/trusted-base";
import { issueUserToken } from "#server/features/sign-in/core/user-tokens";
import type { Call } from "#server/http/call";
import { queueMail } from "#server/jobs/mail-queue";
import type { Mail } from "#server/platform/mail";
import { mayHoldLink } from "./link-holder.ts";

export interface SentInvitation {
  inviteEmailSent: boolean;
  /** Only where mail is not configured, and to those who may hold it: they hand it over by other means. */
  inviteUrl: string | null;
}

/**
 * Makes a token for the invitation, which ends its older one, and queues its mail in the same transaction. The mail links
 * to a trusted address only; the answer to the inviter to where the inviter found this server.
 */
export async function sendInvitation(
  call: Caller & Pick<Call, "asSystem" | "clock" | "random" | "services" | "config" | "serverUrl">,
  tx: Tx,
  invited: { id: string; email: string; name: string; wasActive: boolean },
  membership: { target: Target; membershipId: string },
): Promise<SentInvitation> {
  const { target, membershipId } = membership;
  const token = await call.asSystem("invite user", async (all) => {
    const made = await issueUserToken(all, call, { userId: invited.id, kind: "invite", data: { membershipId } });
    const mail = inviteMail({ ...invited, tenant: target.name, base: trustedBase(call), token: made });
    await queueMail(all, call.services, mail);
    return made;
  });
  const { delivers } = call.services.mailer;
  const shown = !delivers && !invited.wasActive && (await mayHoldLink(call, tx, invited.id));
  return { inviteEmailSent: delivers, inviteUrl: shown ? linkOf(call.serverUrl, token) : null };
}

const linkOf = (base: string, token: string) => `${base}/accept-invite#token=${token}`;
export const tokenOfLink = (link: string): string => link.slice(link.indexOf("#token=") + "#token=".length);

/** The token stands in the link's fragment, which browsers send to no server and to no linked page. */
function inviteMail(mail: {
  email: string;
  name: string;
  tenant: string;
  base: string | undefined;
  token: string;
}): Mail {
  const link = mail.base === undefined ? [] : ["", linkOf(mail.base, mail.token)];
  return {
    to: mail.email,
    subject: `You are invited to ${mail.tenant.replace(/[\r\n]+/g, " ")}`,
    text: [
      `Hello ${mail.name},`,
      "",
      `you are invited to ${mail.tenant}. To accept and choose a password, or with the one you have, use this within 7 days:`,
      ...link,
      "",
      "On the command line: rmm users accept-invite, with this token:",
      "",
      mail.token,
      "",
    ].join("\n"),
  };
}
