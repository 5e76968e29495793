import type { Call } from "#server/http/call";
import type { Mail } from "#server/platform/mail";

/**
 * Where a link in a mail may lead when no one is signed in: the configured address, or this machine. Never another
 * `Host` header: a request for another person's reset could otherwise choose where the token is sent.
 */
export function trustedBase(call: Pick<Call, "config" | "serverUrl">): string | undefined {
  if (call.config.publicUrl !== undefined) return call.config.publicUrl;
  if (!URL.canParse(call.serverUrl)) return undefined;
  const { hostname } = new URL(call.serverUrl);
  return ["localhost", "127.0.0.1", "[::1]"].includes(hostname) ? call.serverUrl : undefined;
}

/** The token stands in the link's fragment, which browsers send to no server and to no linked page. */
export function resetMail(mail: { to: string; name: string; base: string | undefined; token: string }): Mail {
  const link = mail.base === undefined ? [] : ["", `${mail.base}/reset-password#token=${mail.token}`];
  return {
    to: mail.to,
    subject: "Reset your password",
    text: [
      `Hello ${mail.name},`,
      "",
      "someone asked to reset the password of your account. To choose a new one, use this within an hour:",
      ...link,
      "",
      "On the command line: rmm passwords reset, with this token:",
      "",
      mail.token,
      "",
      "If it was not you, ignore this message: your password stays as it is.",
      "",
    ].join("\n"),
  };
}
