import type { Register } from "../../program.ts";
import { registerCanI } from "./can-i.ts";
import { registerLogin } from "./login.ts";
import { registerLogout } from "./logout.ts";
import { registerMfa } from "./mfa.ts";
import { registerStatus } from "./status.ts";
import { registerToken } from "./token.ts";

/** `rmm auth …` */
export const registerAuth: Register = async (group, run) => {
  group.addHelpText("before", "Examples:\n  rmm auth login --server https://rmm.example\n  rmm auth status\n");
  await registerLogin(group.command("login").summary("Sign in with email and password"), run);
  await registerLogout(group.command("logout").summary("Sign out and forget the tokens"), run);
  await registerStatus(group.command("status").summary("Show who you are and which credential won"), run);
  await registerToken(group.command("token").summary("Print an access token"), run);
  await registerCanI(group.command("can-i").summary("Tell whether you may do something"), run);
  await registerMfa(
    group.command("mfa").summary("Set up, prove and turn off the second factor").helpCommand(false),
    run,
  );
};
