import { expect, it } from "vitest";
import { jsonLog, type LogLevel } from "../platform/log.ts";
import { startTestServer } from "../test/harness.ts";
import { asSystem } from "./as-system.ts";

interface Line {
  level: string;
  event: string;
  reason?: string;
}

async function exitsOf(level: LogLevel): Promise<Line[]> {
  const lines: Line[] = [];
  const server = await startTestServer(
    "sqlite",
    {},
    { log: jsonLog(level, (line) => void lines.push(JSON.parse(line))) },
  );
  try {
    const { token } = await server.signIn({ role: "System Admin" });
    lines.length = 0;
    await server.request("GET", "/auth/sessions", { token });
    await asSystem(server.services, "sweep devices").selectFrom("devices").select("id").execute();
    return lines.filter(({ event }) => event === "db.as_system");
  } finally {
    await server.stop();
  }
}

it("work outside the tenant scope says why, once each time, to whoever debugs", async () => {
  expect(await exitsOf("debug")).toEqual(
    ["authenticate", "sign-in", "sweep devices"].map((reason) =>
      expect.objectContaining({ level: "debug", event: "db.as_system", reason }),
    ),
  );
  expect(await exitsOf("info")).toEqual([]);
});
