import type { Mail } from "#server/platform/mail";

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
