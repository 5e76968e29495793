import type { Register } from "../../register.ts";
import { registerCanI } from "./can-i.ts";
import { registerLogin } from "./login.ts";
import { registerLogout } from "./logout.ts";
import { registerMemberships } from "./memberships.ts";
import { registerMfa } from "./mfa.ts";
import { registerStatus } from "./status.ts";
import { registerSwitch } from "./switch.ts";
import { registerToken } from "./token.ts";

/** `rmm auth …` */
export const registerAuth: Register = async (group, run, program) => {
  group.addHelpText("before", "Examples:\n  rmm auth login --server https://rmm.example\n  rmm auth status\n");
  await registerLogin(group.command("login").summary("Sign in with email and password"), run, program);
  await registerLogout(group.command("logout").summary("Sign out and delete the stored tokens"), run, program);
  await registerStatus(group.command("status").summary("Show who you are and which credential is used"), run, program);
  await registerToken(group.command("token").summary("Print an access token"), run, program);
  await registerMemberships(
    group.command("memberships").summary("List your memberships and invitations"),
    run,
    program,
  );
  await registerSwitch(group.command("switch").summary("Switch to another of your memberships"), run, program);
  await registerCanI(group.command("can-i").summary("Check whether you may do something"), run, program);
  await registerMfa(
    group.command("mfa").summary("Set up, verify and turn off the second factor").helpCommand(false),
    run,
    program,
  );
};
