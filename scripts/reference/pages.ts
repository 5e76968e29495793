import { exitCodes } from "#cli/errors/exit-codes";
import { globalFlagList } from "#cli/globals";
import { spellingOf } from "#cli/noun-aliases";
import type { GroupHelp } from "./help-texts.ts";

const flags = globalFlagList.map(({ flag, value, description }) => [`${flag} ${value}`.trim(), description] as const);
const codes = Object.values(exitCodes).map(([code, meaning]) => [String(code), meaning] as const);

/** `rmm.1`, in the language of man pages. */
export function manPage(groups: readonly GroupHelp[]): string {
  const list = (rows: readonly (readonly [string, string])[]) =>
    rows.flatMap(([term, text]) => [".TP", `.B ${roff(term)}`, roff(text)]);
  return [
    '.TH RMM 1 "" "rmm" "User Commands"',
    ".SH NAME",
    "rmm \\- manage partners, organizations, devices and credentials from the terminal",
    ".SH SYNOPSIS",
    ".B rmm",
    roff("<group> <command> [flags]"),
    ".SH GLOBAL FLAGS",
    ...list(flags),
    ".SH EXIT STATUS",
    ...list(codes),
    ".SH COMMANDS",
    ...groups.flatMap(({ commands }) =>
      commands.flatMap(({ path, help }) => [`.SS ${roff(path)}`, ".nf", ".in 0", ...help.split("\n").map(roff), ".fi"]),
    ),
    "",
  ].join("\n");
}

/** A line that man prints as it is. */
const roff = (text: string): string =>
  text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^(?=[.'])/, "\\&");

/** One page for each group, and a list of them. */
export function markdownPages(groups: readonly GroupHelp[]): [path: string, text: string][] {
  const table = (heads: string, rows: readonly (readonly [string, string])[]) =>
    [heads, "|---|---|", ...rows.map(([term, text]) => `| ${term} | ${cell(text)} |`)].join("\n");
  const index = [
    "# The rmm command",
    table(
      "| Group | What it is for |",
      groups.map(({ name, summary }) => [`[${spellingOf(name)}](${name}.md)`, summary] as const),
    ),
    "## Global flags",
    table(
      "| Flag | What it does |",
      flags.map(([flag, text]) => [`\`${flag}\``, text] as const),
    ),
    "## Exit codes",
    table("| Code | Meaning |", codes),
  ];
  return [
    ["reference/README.md", `${index.join("\n\n")}\n`],
    ...groups.map(({ name, summary, commands }): [string, string] => {
      const parts = commands.map(({ path, help }) => `## ${path}\n\n\`\`\`text\n${help}\n\`\`\``);
      return [`reference/${name}.md`, `${[`# rmm ${spellingOf(name)}`, summary, ...parts].join("\n\n")}\n`];
    }),
  ];
}

const cell = (text: string): string => text.replaceAll("|", "\\|");
