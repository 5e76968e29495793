import { openContext } from "../context.ts";
import { exitCodes } from "../errors/exit-codes.ts";
import { globalFlagList } from "../globals.ts";
import { formatOf, printResult } from "../output/print.ts";
import { termsText } from "../output/wrap.ts";
import type { Register } from "../register.ts";
import { writeTo } from "../shell.ts";
import { takes, valued } from "../taken-flags.ts";

const variables = [
  { name: "RMM_SERVER", meaning: "address of the server" },
  { name: "RMM_PROFILE", meaning: "profile to use" },
  { name: "RMM_ORG", meaning: "organization: slug, name or id" },
  { name: "RMM_TOKEN", meaning: "access token of a user" },
  { name: "RMM_TOKEN_FILE", meaning: "file that holds a token or a key" },
  { name: "RMM_API_KEY", meaning: "API key (svc_…) or partner key (svc_sp_…)" },
  { name: "RMM_ENROLLMENT_KEY", meaning: "enrollment key of `agent simulate`" },
  { name: "RMM_NO_INPUT", meaning: "1: never ask" },
  { name: "RMM_CONFIG_DIR", meaning: "folder of profiles and tokens" },
  { name: "RMM_DATA_DIR", meaning: "folder of the server's data" },
  { name: "CI", meaning: "true: never ask" },
  { name: "BROWSER", meaning: "program that opens the address of `auth login --sso`; none over SSH" },
  { name: "NO_COLOR, CLICOLOR, CLICOLOR_FORCE, FORCE_COLOR", meaning: "colours off and on" },
] as const;

/** What is explained beside commands, as rows. */
const topics = {
  "exit-codes": () => Object.values(exitCodes).map(([code, meaning]) => ({ code, meaning })),
  environment: () => variables,
  flags: () =>
    globalFlagList.map(({ flag, value, description }) => ({ flag: `${flag} ${value}`.trim(), meaning: description })),
} as const;

/** `rmm help [command…]`, `rmm help exit-codes`, `rmm help environment`, `rmm help flags`. */
export const registerHelp: Register = (command, run, program) => {
  takes(command, ...valued);
  command
    .description("Help on a command, or on one of the topics exit-codes, environment and flags")
    .argument("[words...]", "a command, or a topic")
    .usage("[command or topic]")
    .addHelpText(
      "before",
      "Examples:\n  rmm help exit-codes\n  rmm help environment\n  rmm help flags\n  rmm help devices list\n",
    )
    .action((words: string[]) =>
      run(async (shell, globals) => {
        const [topic = ""] = words;
        const rows = Object.hasOwn(topics, topic) ? topics[topic as keyof typeof topics]() : undefined;
        if (rows === undefined) return program.run(shell, [...words, "--help"]);
        const context = await openContext(shell, globals, { mayBeNew: true });
        const format = formatOf(context);
        if (format === "table") {
          const terms = rows.map((row) => Object.values(row).map(String) as [string, string]);
          await writeTo(shell, "stdout", termsText(terms, shell.columns));
        } else await printResult(context, rows, { fields: Object.keys(rows[0]!) });
        return 0;
      }),
    );
};
