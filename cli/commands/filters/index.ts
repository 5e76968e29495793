import type { Register } from "../../register.ts";
import { registerExplain } from "./explain.ts";
import { registerFields } from "./fields.ts";

/** `rmm filters`: what chooses devices, and how it is written. */
export const registerFilters: Register = async (group, run, program) => {
  await registerExplain(group.command("explain").summary("Turn an expression into conditions, or back"), run, program);
  await registerFields(group.command("fields").summary("List the fields of filters"), run, program);
};
