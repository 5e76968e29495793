import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { runJq } from "./jq.ts";

it.each(["SIGINT", "SIGTERM"] as const)(
  "%s ends an expression that has no end, though the program listens",
  async (name) => {
    const program = `
    import { runJq } from ${JSON.stringify(fileURLToPath(new URL("./jq.ts", import.meta.url)))};
    process.on("${name}", () => process.stdout.write("heard"));
    const work = runJq(null, "def f: f; f");
    process.stdout.write("begun");
    await work;
  `;
    const given = ["--conditions=source", "--import", "tsx", "--input-type=module", "-e", program];
    const child = spawn(process.execPath, given, { stdio: ["ignore", "pipe", "inherit"] });
    const ended = once(child, "exit");
    await once(child.stdout, "data");
    // The first may come before the expression runs.
    const again = setInterval(() => child.kill(name), 100);
    const givenUp = setTimeout(() => child.kill("SIGKILL"), 8_000);
    expect(await ended).toEqual([null, name]);
    clearInterval(again);
    clearTimeout(givenUp);
  },
);

it("who listens for signals listens again afterwards", async () => {
  const heard = () => undefined;
  process.on("SIGTERM", heard);
  const before = process.listeners("SIGTERM");
  expect(await runJq({ a: 1 }, ".a")).toBe("1\n");
  await expect(runJq({ a: 1 }, ".a.b")).rejects.toThrow("--jq");
  expect(process.listeners("SIGTERM")).toEqual(before);
  process.off("SIGTERM", heard);
});
