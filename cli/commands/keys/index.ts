import type { Register } from "../../register.ts";
import { registerKeysList } from "./list.ts";
import { registerKeysRotate } from "./rotate.ts";

/** `rmm keys …`: the credentials of machines, whatever their kind. */
export const registerKeys: Register = async (group, run, program) => {
  group.addHelpText(
    "before",
    "Examples:\n  rmm keys list --expiring 14d\n  rmm keys rotate --older-than 90d --dry-run\n",
  );
  await registerKeysList(group.command("list").summary("List keys of every kind"), run, program);
  await registerKeysRotate(group.command("rotate").summary("Replace the secrets of many keys"), run, program);
};
