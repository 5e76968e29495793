import { openContext } from "../context.ts";
import { usageError } from "../errors/cli-error.ts";
import { commands } from "../generated/search.ts";
import { endpointFlags } from "../generic/endpoint-flags.ts";
import { runEndpoint } from "../generic/run-endpoint.ts";
import type { Register } from "../register.ts";
import { takes } from "../taken-flags.ts";

const find = commands.find(({ name }) => name === "find")!;

/** `rmm search TEXT` is `rmm search find --q TEXT`. */
export const extendSearch: Register = (group, run) => {
  takes(group, ...endpointFlags(find))
    .argument("[text...]", "part of a name; several words are one text")
    .usage("<text> [flags]")
    .addHelpText("after", help)
    .action((words: string[]) =>
      run(async (shell, globals) => {
        if (words.length === 0) throw usageError("Say what to search for: `rmm search reception`");
        return runEndpoint(await openContext(shell, globals), find, { args: [], options: { q: words.join(" ") } });
      }),
    );
};

const help = `
Devices by hostname, display name and last user, and pages of settings:
  rmm search reception
  rmm search "front desk" --limit 5
The word \`find\` itself is found by \`rmm search find --q find\`.
`;
