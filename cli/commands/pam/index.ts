import { commandsOf } from "../../generic/commands-of.ts";
import type { Register } from "../../register.ts";
import { registerDecision } from "./decide.ts";
import { showsShortIds, takesBeginning } from "./endpoints.ts";
import { registerStats } from "./stats.ts";
import { registerWatch } from "./watch.ts";

/** What a person decides with, beside the commands of the endpoints. */
export const extendElevationRequests: Register = async (group, run) => {
  const specs = await commandsOf("elevation-requests");
  const spec = (verb: string) => specs.find(({ name }) => name === verb)!;
  const named = (name: string) => group.commands.find((one) => one.name() === name)!;
  for (const name of ["list", "active"]) showsShortIds(named(name), run, spec(name));
  for (const name of ["get", "revoke"]) takesBeginning(named(name), run, spec(name));
  named("get").alias("show");
  named("report").addHelpText("after", ofAgent);
  registerDecision(
    group.command("approve").summary("Approve requests, each shown first"),
    run,
    spec("respond"),
    "approve",
  );
  registerDecision(group.command("deny").summary("Deny requests, each shown first"), run, spec("respond"), "deny");
  registerWatch(group.command("watch").summary("Show requests as they come"), run, {
    list: spec("list"),
    respond: spec("respond"),
  });
  registerStats(group.command("stats").summary("Count requests by their status"), run, spec("list"));
};

const ofAgent = `
This is the call of the agent on the device, and takes the token of that device:
--token-file dev.token. The flags are called as the agent calls its fields.
`;
