import { type Context, openContext } from "../context.ts";
import { usageError } from "../errors/cli-error.ts";
import { commands } from "../generated/notifications.ts";
import { allRows } from "../generic/all-rows.ts";
import { endpointFlags } from "../generic/endpoint-flags.ts";
import { runEndpoint } from "../generic/run-endpoint.ts";
import type { Register } from "../register.ts";
import { takes } from "../taken-flags.ts";

const specOf = (name: string) => commands.find((one) => one.name === name)!;

/** `rmm notifications read` takes several ids, or `--all` that are unread. */
export const extendNotifications: Register = (group, run) => {
  const read = group.commands.find((one) => one.name() === "read")!;
  const spec = specOf("read");
  takes(read, ...endpointFlags(spec), "all")
    .argument("[ids...]", "more of them")
    .usage("<id>... [flags]")
    .addHelpText("after", help)
    .action(() =>
      run(async (shell, globals) => {
        const context = await openContext(shell, globals);
        const [options, ids] = [read.opts(), read.args];
        if (globals.all && (ids.length > 0 || options["file"] !== undefined))
          throw usageError("Use either --all or ids");
        const named = globals.all ? await unreadIds(context) : ids;
        if (!globals.all && named.length < 2) return runEndpoint(context, spec, { args: named, options });
        return runEndpoint(context, spec, { args: [], options, each: named.map((id) => ({ args: [id], called: id })) });
      }),
    );
};

async function unreadIds(context: Context): Promise<string[]> {
  const query = { unreadOnly: true, limit: 100 };
  const rows = await allRows(context, specOf("list"), { params: {}, query, body: {}, hasBody: false });
  return rows.map(({ id }) => String(id));
}

const help = `
All that are unread, and what is left of them:
  rmm notifications read --all
  rmm notifications list --unread-only
`;
