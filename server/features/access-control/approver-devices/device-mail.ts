import type { Mail } from "#server/platform/mail";

interface Told {
  readonly to: string;
  readonly label: string;
  readonly happened: "registered" | "removed";
}

/** Tells a person of a change that a thief of their session would make too. */
export const deviceMail = ({ to, label, happened }: Told): Mail => ({
  to,
  subject: `An approver device was ${happened}`,
  text: [
    `The approver device "${label}" was ${happened} for your account.`,
    "Approvals of elevated rights can be proven with such a device.",
    "",
    "If it was not you, change your password, and tell an administrator.",
    "",
  ].join("\n"),
});
