import type { Mail } from "#server/platform/mail";

/** Tells of a rescue; the link itself is only where the command ran. */
export function rescueMail({ to, email, clearMfa }: { to: string; email: string; clearMfa: boolean }): Mail {
  return {
    to,
    subject: "An account was rescued on the server",
    text: [
      `On the server's host a link was made that sets a new password for ${email}.`,
      ...(clearMfa ? ["Its second factor was removed."] : []),
      "The next sign-in with that password also passes where single sign-on is enforced.",
      "",
      "If nobody you know did this, someone else can run commands on the server.",
      "",
    ].join("\n"),
  };
}
