import { openContext } from "../../context.ts";
import { printResult } from "../../output/print.ts";
import type { Register } from "../../register.ts";
import { proving, tabular, takes } from "../../taken-flags.ts";

const fields = ["tenantName", "kind", "roleName", "status", "selected", "home", "createdAt", "tenantId", "id"];

/** `rmm auth memberships`: what `rmm auth switch` chooses from. */
export const registerMemberships: Register = (command, run) => {
  takes(command, ...tabular, ...proving);
  command
    .description("List your memberships and pending invitations; accept one with rmm memberships accept")
    .addHelpText("before", "Examples:\n  rmm auth memberships\n  rmm auth memberships --json=tenantName,status,id\n")
    .action(() =>
      run(async (shell, globals) => {
        const context = await openContext(shell, globals);
        const client = await context.client();
        const { items } = await client.memberships.list({}, { signal: shell.signal });
        await printResult(context, items, { fields });
        return 0;
      }),
    );
};
