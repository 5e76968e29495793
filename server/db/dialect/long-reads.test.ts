import { sql } from "kysely";
import { expect, it } from "vitest";
import { startTestServer } from "../../test/harness.ts";
import { boundedReadOf } from "./bounded-read.ts";

const [one, other] = ["org:0190c0de-0000-7000-8000-00000000000a", "org:0190c0de-0000-7000-8000-00000000000b"];

it("however many reads of a tenant take long, others find connections, and so do its own that are short", async () => {
  const server = await startTestServer("postgres");
  try {
    const { store } = server.services;
    const leaving = new AbortController();
    const ended: string[] = [];
    const long = async (name: string, tenant: string, seconds: number, gone = new AbortController().signal) => {
      const bounds = { tenant, gone, untilMs: performance.now() + 5_000, apart: true };
      const read = boundedReadOf(store.connection(tenant));
      await read?.(`select pg_sleep(${seconds})`, [], bounds).catch(({ code }) => ended.push(`${name} ${code}`));
      ended.push(name);
    };
    const many = Array.from({ length: 12 }, () => long("one", one, 1));
    const left = long("left", one, 1, leaving.signal);
    const fair = long("other", other, 0.1);
    leaving.abort();
    const begun = performance.now();
    for (const tenant of [one, other]) await sql`select 1`.execute(store.connection(tenant));
    await fair;
    expect(performance.now() - begun).toBeLessThan(900);
    expect(ended).toEqual(["left RMM_READ_LEFT", "left", "other"]);
    await Promise.all([...many, left]);
    expect(ended.filter((name) => name === "one")).toHaveLength(12);
  } finally {
    await server.stop();
  }
});

it("reads that wait longer than they may are given up", async () => {
  const server = await startTestServer("postgres");
  try {
    const read = boundedReadOf(server.services.store.connection(one));
    const { signal: gone } = new AbortController();
    const asked = (ms: number) =>
      read?.("select pg_sleep(1)", [], { tenant: one, gone, untilMs: performance.now() + ms, apart: true });
    const many = Array.from({ length: 4 }, () => asked(5_000));
    await expect(asked(200)).rejects.toMatchObject({ code: "RMM_READ_LATE" });
    await Promise.all(many);
  } finally {
    await server.stop();
  }
});
