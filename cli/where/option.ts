import type { Command } from "commander";

export interface WhereOption {
  readonly where?: string;
}

/** As messages name it. */
export const WHERE = "--where";

/** Adds `--where` to a command; nothing of the language is loaded for that. */
export const addWhere = (command: Command, note = ""): Command =>
  command.option(
    `${WHERE} <expression>`,
    `those that match: 'osType = macos and tags any [web]'; @file reads it${note}`,
  );
