import type { Register } from "../register.ts";

/** Explains how to store the key that `rmm enrollment-keys create` makes. */
export const extendEnrollmentKeys: Register = (group) => {
  group.commands.find((one) => one.name() === "create")!.addHelpText("after", secretHelp);
};

const secretHelp = `
The key is all that stdout gets; facts about it go to stderr:
  KEY=$(rmm enrollment-keys create --org contoso-dental --name hq-rollout)
`;
