import type { ListedPamRule } from "#sdk/generated/models/index";
import { openContext } from "../../../context.ts";
import { commandsOf } from "../../../generic/commands-of.ts";
import { runEndpoint } from "../../../generic/run-endpoint.ts";
import type { Register } from "../../../register.ts";
import { summaryOf } from "./summary.ts";

/** What each rule matches, beside the commands of the endpoints. */
export const extendPamRules: Register = async (group, run) => {
  const specs = await commandsOf("pam-rules");
  const spec = (verb: string) => specs.find(({ name }) => name === verb)!;
  const list = group.commands.find((one) => one.name() === "list")!;
  const columns = ["priority", "name", "verdict", "enabled", "matches", "suspendedVerdict", "id"];
  const more = (rule: ListedPamRule) => ({ matches: summaryOf(rule) });
  list.action(() =>
    run(async (shell, globals) => {
      const context = await openContext(shell, globals);
      return runEndpoint(context, spec("list"), { args: [], options: list.opts(), view: { columns, more } });
    }),
  );
};
