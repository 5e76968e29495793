import { escapeControls, printable } from "./output/escape.ts";
import { wrapWords } from "./output/wrap.ts";
import type { Prompter, Shell } from "./shell.ts";

/** Asks on stderr, so that stdout stays data. The prompt library is loaded with the first question. */
export function prompterOf(shell: Shell): Prompter {
  if (shell.prompter) return shell.prompter;
  const streams = {
    input: shell.stdin as NodeJS.ReadStream,
    output: shell.stderr as NodeJS.WriteStream,
    signal: shell.signal,
  };
  const library = () => import("@inquirer/prompts");
  // Questions contain untrusted text, such as names of organizations.
  const onOneLine = (text: string) => printable(escapeControls(text));
  // The library breaks long questions in the middle of words. Its mark takes two columns, and the answer some more.
  const safe = (message: string) => ({ message: wrapWords(onOneLine(message), shell.columns - 8, 2) });
  return {
    text: async (message) => (await library()).input({ ...safe(message), required: true }, streams),
    secret: async (message) => (await library()).password({ ...safe(message), mask: false }, streams),
    confirm: async (message) => (await library()).confirm({ ...safe(message), default: false }, streams),
    choose: async (message, choices) => {
      const shown = choices.map((value) => ({ value, name: onOneLine(value) }));
      return (await library()).select({ ...safe(message), choices: shown }, streams);
    },
  };
}
