import type { Caller } from "#server/access/org-access";
import type { Tx } from "#server/db/unit-of-work";
import { trustedBase } from "#server/features/sign-in/core/trusted-base";
import { issueUserToken } from "#server/features/sign-in/core/user-tokens";
import type { Call } from "#server/http/call";
import { queueMail } from "#server/jobs/mail-queue";
import type { Mail } from "#server/platform/mail";
import { mayHoldLink } from "./link-holder.ts";
import type { Target } from "./target.ts";

/** What an invitation's token stands for: the membership that waits for its person. */
export interface Invitation {
  kind: Target["kind"];
  membershipId: string;
}

export interface SentInvitation {
  inviteEmailSent: boolean;
  /** Only where mail is not configured, and to those who may hold it: they hand it over by other means. */
  inviteUrl: string | null;
}

/**
 * Makes the person's invitation, which ends any older one, and queues its mail in the same transaction. The mail links
 * to a trusted address only; the answer to the inviter to where the inviter found this server.
 */
export async function sendInvitation(
  call: Caller & Pick<Call, "asSystem" | "clock" | "random" | "services" | "config" | "serverUrl">,
  tx: Tx,
  invited: { id: string; email: string; name: string },
  membership: { target: Target; membershipId: string },
): Promise<SentInvitation> {
  const { target, membershipId } = membership;
  const data = { kind: target.kind, membershipId } satisfies Invitation;
  const token = await call.asSystem("invite user", async (all) => {
    const made = await issueUserToken(all, call, { userId: invited.id, kind: "invite", data: { ...data } });
    const mail = inviteMail({ ...invited, tenant: target.name, base: trustedBase(call), token: made });
    await queueMail(all, call.services, mail);
    return made;
  });
  const { delivers } = call.services.mailer;
  const shown = !delivers && (await mayHoldLink(call, tx, invited.id));
  return { inviteEmailSent: delivers, inviteUrl: shown ? linkOf(call.serverUrl, token) : null };
}

const linkOf = (base: string, token: string) => `${base}/accept-invite#token=${token}`;

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
      `you are invited to ${mail.tenant}. To accept and choose a password, use this within 7 days:`,
      ...link,
      "",
      "On the command line: rmm users accept-invite, with this token:",
      "",
      mail.token,
      "",
    ].join("\n"),
  };
}
