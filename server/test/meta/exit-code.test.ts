import { execa } from "execa";
import { expect, it } from "vitest";

it("a process that has started a cluster keeps its exit code, so that a failed run does not pass", async () => {
  const script = `
    const { startOwnPostgres } = await import("#fixtures/postgres");
    const cluster = await startOwnPostgres();
    await cluster.stop();
    process.exitCode = 3;`;
  const args = ["--conditions=source", "--import", "tsx", "--input-type=module", "-e", script];
  const { exitCode } = await execa(process.execPath, args, { reject: false });
  expect(exitCode).toBe(3);
});
