import type { Command } from "commander";
import { commands } from "../../generated/audit-retention.ts";
import { addEndpoint } from "../../generic/noun-group.ts";
import type { Run } from "../../register.ts";

/** `rmm audit retention get|set`: `rmm audit-retention` beside the other commands of the record. */
export function registerRetention(group: Command, run: Run): void {
  const retention = group.command("retention").summary("Show or set how long entries are kept");
  retention.addHelpText(
    "before",
    "Examples:\n  rmm audit retention get contoso-dental\n  rmm audit retention set contoso-dental --retention-days 730\n",
  );
  for (const spec of commands) addEndpoint(retention, { ...spec, noun: "audit retention" }, run);
}
