import { join } from "node:path";
import { type Context, openContext } from "../context.ts";
import { CliError } from "../errors/cli-error.ts";
import { printResult } from "../output/print.ts";
import { configDirOf } from "../profile/config-dir.ts";
import type { Register } from "../register.ts";
import { tabular, takes } from "../taken-flags.ts";

/** `rmm config explain`: each setting of a run and its source. */
export const registerConfig: Register = (group, run) => {
  group.addHelpText("before", "Examples:\n  rmm config explain\n");
  takes(group.command("explain"), ...tabular, "server", "profile", "org", "token-file", "token-stdin")
    .summary("Show each setting and where it came from")
    .description("Show each setting and where it came from: a flag, a variable, the profile, or the default")
    .addHelpText("before", "Examples:\n  rmm config explain\n  rmm config explain --profile prod --json\n")
    .action(() => run(async (shell, globals) => explain(await openContext(shell, globals, { mayBeNew: true }))));
};

async function explain(context: Context): Promise<number> {
  const { settings, shell, globals } = context;
  const { server, profile, org, output, store } = settings;
  const dir = configDirOf(shell);
  const { env } = shell;
  const dataDir = env["RMM_DATA_DIR"];
  const noInput = !globals.input ? "--no-input" : env["RMM_NO_INPUT"] ? "RMM_NO_INPUT" : env["CI"] ? "CI" : "default";
  const rows = [
    { name: "server", ...server },
    { name: "profile", ...profile },
    { name: "org", value: org.value ?? null, source: org.source },
    { name: "output", ...output },
    { name: "store", ...store },
    { name: "credential", ...(await credentialRow(context)) },
    {
      name: "input",
      value: context.interactive ? "ask" : "never ask",
      source: noInput === "default" && !context.interactive ? "no terminal" : noInput,
    },
    { name: "configDir", value: dir.path, source: dir.source },
    { name: "configFile", value: join(dir.path, "config.json"), source: dir.source },
    { name: "dataDir", value: dataDir || "./.rmm", source: dataDir ? "RMM_DATA_DIR" : "default" },
  ];
  await printResult(context, rows, { fields: ["name", "value", "source"] });
  return 0;
}

/** Reports what is wrong with a credential instead of failing: that is the purpose of the command. */
async function credentialRow(context: Context): Promise<{ value: string; source: string }> {
  try {
    const found = await context.credential();
    if (found === undefined) return { value: "none", source: "default" };
    return { value: found.account === undefined ? found.kind : `${found.kind} ${found.account}`, source: found.source };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { value: "unusable", source: error.message };
  }
}
