import type { Command } from "commander";
import { expect, it } from "vitest";
import { programFor } from "#cli/program";
import { areas } from "#contract/areas";
import { areaOfNoun } from "#contract/index";
import { expectGolden } from "./golden.ts";

/** Flags and commands are the product's public interface, versioned like the API. */
it("the rmm command has exactly the commands and flags that were agreed", async () => {
  const root = await programFor(undefined);
  const tree: Record<string, string[]> = { rmm: flagsOf(root) };
  for (const { name } of root.commands.map((command) => ({ name: command.name() }))) {
    const program = await programFor(name);
    const group = program.commands.find((command) => command.name() === name);
    if (group) collect(group, `rmm ${name}`, tree);
  }
  expect(Object.keys(tree).length).toBeGreaterThan(60);
  const areaOfCommand = (path: string) => areaOfNoun(path.split(" ")[1] ?? "");
  const of = (area: string | undefined) =>
    Object.fromEntries(
      Object.entries(tree)
        .filter(([path]) => areaOfCommand(path) === area)
        .sort(([a], [b]) => a.localeCompare(b)),
    );
  expectGolden("cli-tree.json", of(undefined));
  for (const area of Object.keys(areas)) expectGolden(`${area}/cli-tree.json`, of(area));
});

function collect(command: Command, path: string, tree: Record<string, string[]>): void {
  tree[path] = flagsOf(command);
  for (const child of command.commands) collect(child, `${path} ${child.name()}`, tree);
}

const flagsOf = (command: Command): string[] => [
  ...command.registeredArguments.map((argument) =>
    argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  ),
  ...command.options.map((option) => option.flags).sort(),
];
