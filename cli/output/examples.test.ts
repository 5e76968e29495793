import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { specs } from "../test-commands.ts";
import { leaves } from "../test-leaves.ts";
import { testCommand } from "../test-shell.ts";
import { wrappedExamples } from "./examples.ts";

const long =
  `  rmm keys rotate --org contoso-dental --name "Ana Ruiz" --secret-command 'vault kv put kv/$RMM_KEY_NAME key=-' --yes ` +
  `--map-value type:Kunde=customer && rmm keys list --json < list.txt | tail`;

it("breaks an example between flags, each with its value, and in no text", () => {
  expect(wrappedExamples(`Examples:\n${long}\n\nUsage`, 60)).toBe(
    [
      "Examples:",
      `  rmm keys rotate --org contoso-dental --name "Ana Ruiz" \\`,
      `    --secret-command 'vault kv put kv/$RMM_KEY_NAME key=-' \\`,
      "    --yes --map-value type:Kunde=customer && rmm keys list \\",
      "    --json < list.txt | tail",
      "",
      "Usage",
    ].join("\n"),
  );
  expect(wrappedExamples("  rmm a b \\\n    --c d\n", 80)).toBe("  rmm a b --c d\n");
  expect(wrappedExamples("It is a line of text that is longer than that, and stays as it is", 20)).toContain(
    "longer than",
  );
});

/** What a shell makes of a line. */
const words = (line: string) =>
  execFileSync("sh", ["-c", `set -f; p() { for one in "$@"; do printf '%s\\n' "$one"; done; }; p ${line}`], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });

it("is pasted as the same words as before, in the help of every command", async () => {
  const command = testCommand();
  expect((await specs()).length).toBeGreaterThan(100);
  let broken = 0;
  for (const { path } of await leaves()) {
    const { stdout } = await command.run([...path, "--help"]);
    const examples = stdout.slice(0, stdout.indexOf("\nUsage:"));
    for (const [example] of examples.matchAll(/^ {2}rmm .*(?:(?<=\\)\n.*)*$/gm)) {
      if (!example.includes("\\\n") || /[|<>&$]/.test(example)) continue;
      const whole = example.replaceAll(/ \\\n +/g, " ");
      expect(words(example.trim()), example).toBe(words(whole.trim()));
      broken += 1;
    }
  }
  expect(broken).toBeGreaterThan(10);
  command.close();
});
