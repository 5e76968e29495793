import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { databases, startTestServer, type TestServer } from "../test/harness.ts";
import type { Consumer, StoredEvent } from "./consumer.ts";
import { emitEvents } from "./emit.ts";
import { ATTEMPTS_MAX, handOut } from "./hand-out.ts";
import { numberEvents } from "./numbering.ts";
import { purgeEvents } from "./purge.ts";
import { gatherMs, handAll, registerConsumers, startEvents } from "./runner.ts";
import { handOutAgain, listSetAside, type SetAside } from "./set-aside.ts";

it("gather ten times as long as numbering them took: a slow disk is left to the changes", () => {
  expect([0, 1, 10, 40, 10_000].map(gatherMs)).toEqual([20, 20, 100, 400, 500]);
});

describe.each(databases)("events on %s", (database) => {
  let server: TestServer;
  const logged: string[] = [];
  beforeAll(async () => {
    const log = (level: string) => (event: string, about?: object) =>
      void logged.push(`${level} ${event} ${(about as { consumer?: string } | undefined)?.consumer}`);
    server = await startTestServer(
      database,
      {},
      { log: { debug: () => undefined, info: () => undefined, warn: log("warn"), error: log("error") } },
    );
  });
  afterAll(() => server?.stop());

  const told = (name: string) => ({ orgId: null, data: { siteId: server.services.random.uuid(), siteName: name } });
  const tell = (...names: string[]) =>
    server.db.transaction().execute((tx) => emitEvents(tx, server.services, "site.created", names.map(told)));
  /** Until all that is committed has its place; the server's own runner gives places too. */
  const numbered = async () => {
    const left = server.db.selectFrom("events").select("seq").where("position", "is", null);
    while ((await left.execute()).length > 0) await numberEvents(server.services);
  };
  const nameOf = (event: StoredEvent) => (event.data as { siteName: string }).siteName;
  const cursorOf = (consumer: string) =>
    server.db.selectFrom("eventCursors").selectAll().where("consumer", "=", consumer).executeTakeFirstOrThrow();

  /** Keeps what it is told, and throws at names that begin with `poison`. */
  function keeping(name: string, kept: string[] = []) {
    const consumer: Consumer = {
      name,
      async handle(_, __, events) {
        const names = events.map(nameOf);
        if (names.some((one) => one.startsWith("poison"))) throw new Error("cannot take it");
        kept.push(...names);
        return true;
      },
    };
    return { consumer, kept };
  }
  const joined = async (name: string) => {
    await numbered();
    const made = keeping(name);
    await registerConsumers(server.services, [made.consumer]);
    return made;
  };

  it("have places without gaps, in the order in which they were written", async () => {
    await tell("one", "two");
    await tell("three");
    await numbered();
    const rows = await server.db.selectFrom("events").select(["seq", "position"]).orderBy("position").execute();
    expect(rows.map(({ position }) => position)).toEqual(rows.map((_, index) => index + 1));
    expect(rows.map(({ seq }) => seq)).toEqual(rows.map(({ seq }) => seq).toSorted((a, b) => a - b));
    expect((await cursorOf("numbering")).position).toBe(rows.length);
  });

  it("are handed to each consumer once, in order; one that is new begins at the end", async () => {
    const first = await joined("first");
    await tell("before");
    const second = await joined("second");
    await tell("a", "b");
    await numbered();
    for (const { consumer } of [first, second]) await handAll(server.services, consumer);
    for (const { consumer } of [first, second]) await handAll(server.services, consumer);
    expect(first.kept).toEqual(["before", "a", "b"]);
    expect(second.kept).toEqual(["a", "b"]);
    await registerConsumers(server.services, [first.consumer]);
    await handAll(server.services, first.consumer);
    expect(first.kept).toEqual(["before", "a", "b"]);
  });

  it("are not told of a change that was rolled back, nor handed out twice where the handling was undone", async () => {
    const { consumer, kept } = await joined("undone");
    await expect(
      server.db.transaction().execute(async (tx) => {
        await emitEvents(tx, server.services, "site.created", [told("never")]);
        throw new Error("undone");
      }),
    ).rejects.toThrow("undone");
    await tell("kept");
    await numbered();
    const dying: Consumer = {
      ...consumer,
      async handle(services, tx, events) {
        await emitEvents(tx, services, "site.deleted", [told("written by the consumer")]);
        await consumer.handle(services, tx, events);
        throw new Error("died before the commit");
      },
    };
    expect(await handOut(server.services, dying)).toEqual({ failed: 1 });
    server.clock.advance(60_000);
    await handAll(server.services, consumer);
    expect(kept).toEqual(["kept", "kept"]);
    const written = await server.db.selectFrom("events").select("data").where("kind", "=", "site.deleted").execute();
    expect(written).toEqual([]);
  });

  it("that make a consumer fail are tried again later, then set aside; what stood beside them arrives", async () => {
    const { consumer, kept } = await joined("failing");
    const other = await joined("other");
    await tell("good", "poison", "better");
    await numbered();
    await handAll(server.services, consumer);
    expect(kept).toEqual(["good"]);
    expect(await cursorOf("failing")).toMatchObject({ attempts: 1, setAside: 0 });
    await handAll(server.services, consumer);
    expect((await cursorOf("failing")).attempts, "not before its time").toBe(1);
    await handAll(server.services, other.consumer);
    expect(other.kept, "the other fails by itself").toEqual(["good"]);
    for (let attempt = 1; attempt < ATTEMPTS_MAX; attempt += 1) {
      server.clock.advance(150_000);
      await handAll(server.services, consumer);
    }
    expect(kept).toEqual(["good", "better"]);
    expect(await cursorOf("failing")).toMatchObject({ attempts: 0, retryAt: null, setAside: 1 });
    expect(logged.filter((line) => line === "error event.set_aside failing")).toHaveLength(1);
    expect(logged.filter((line) => line === "warn event.failed failing")).toHaveLength(ATTEMPTS_MAX - 1);
  });

  it("that were set aside are handed out again, once, when somebody asks for it", async () => {
    const [aside] = (await listSetAside(server.services)).filter((one) => one.consumer === "failing");
    expect(aside).toMatchObject({ consumer: "failing", kind: "site.created" });
    const { eventId } = aside as SetAside;
    await expect(handOutAgain(server.services, keeping("failing").consumer, eventId)).rejects.toThrow("cannot take it");
    expect((await cursorOf("failing")).setAside, "it stays").toBe(1);
    const taken: string[] = [];
    const mended: Consumer = {
      name: "failing",
      handle: async (_, __, events) => taken.push(...events.map(nameOf)) > 0,
    };
    const both = [0, 1].map(() => handOutAgain(server.services, mended, eventId));
    expect((await Promise.all(both)).toSorted()).toEqual([false, true]);
    expect(taken).toEqual(["poison"]);
    expect(await cursorOf("failing")).toMatchObject({ setAside: 0 });
    expect((await listSetAside(server.services)).filter((one) => one.consumer === "failing")).toEqual([]);
  });

  it("reach the consumer of a runner, woken or not, and a stopped one no more", async () => {
    const { consumer, kept } = await joined("running");
    const runner = startEvents(server.services, [consumer]);
    try {
      await tell("woken");
      runner.wake();
      await expect.poll(() => kept, { interval: 5, timeout: 5_000 }).toEqual(["woken"]);
      await tell("not woken");
      await expect.poll(() => kept, { interval: 20, timeout: 5_000 }).toEqual(["woken", "not woken"]);
    } finally {
      await runner.stop();
    }
    await tell("late");
    runner.wake();
    await numbered();
    await pause(30);
    expect(kept).toEqual(["woken", "not woken"]);
  });

  it("are kept for a week, and longer for a consumer that has not passed them", async () => {
    const { consumer, kept } = await joined("slow");
    await tell("old");
    await numbered();
    await server.db.deleteFrom("eventCursors").where("consumer", "not in", ["numbering", "slow"]).execute();
    server.clock.advance(8 * 24 * 3_600_000);
    await purgeEvents(server.services);
    await tell("new");
    await numbered();
    await handAll(server.services, consumer);
    expect(kept).toEqual(["old", "new"]);
    expect(await purgeEvents(server.services)).toBe(1);
    const left = await server.db.selectFrom("events").select("data").execute();
    expect(left.map(({ data }) => data["siteName"])).toEqual(["new"]);
  });

  it("are kept a second week for a consumer that this version does not know; then its cursor goes with them", async () => {
    const known = { ...server.services, eventConsumers: ["known"] };
    const { consumer } = await joined("known");
    await joined("of another version");
    await tell("unseen");
    await numbered();
    await handAll(server.services, consumer);
    await server.db
      .deleteFrom("eventCursors")
      .where("consumer", "not in", ["numbering", "known", "of another version"])
      .execute();
    const kept = async () =>
      (await server.db.selectFrom("events").select("data").execute()).map(({ data }) => data["siteName"]);
    server.clock.advance(13 * 24 * 3_600_000);
    await purgeEvents(known);
    expect(await kept()).toEqual(["unseen"]);
    expect(await cursorOf("of another version")).toBeDefined();
    server.clock.advance(2 * 24 * 3_600_000);
    await joined("at its end");
    expect(await purgeEvents({ ...known, eventConsumers: ["known", "of another version"] }), "a known one").toBe(0);
    expect(await purgeEvents(known)).toBe(1);
    expect(await kept()).toEqual([]);
    const cursors = await server.db.selectFrom("eventCursors").select("consumer").orderBy("consumer").execute();
    expect(cursors.map((one) => one.consumer)).toEqual(["at its end", "known", "numbering"]);
    expect(logged).toContain("warn event.consumer_forgotten of another version");
  });

  it("that commit late come after what was handed out before, and are passed over by nobody", async () => {
    if (database === "sqlite") return; // its transactions exclude each other
    const { consumer, kept } = await joined("late");
    const open = await server.db.startTransaction().execute();
    await emitEvents(open, server.services, "site.created", [told("slow")]);
    await tell("quick");
    await numberEvents(server.services);
    await expect.poll(async () => (await cursorOf("numbering")).position).toBe((await cursorOf("late")).position + 1);
    await handAll(server.services, consumer);
    expect(kept).toEqual(["quick"]);
    await open.commit().execute();
    await numbered();
    await handAll(server.services, consumer);
    expect(kept).toEqual(["quick", "slow"]);
  });

  it("of two who hand out at one moment only one does", async () => {
    const { consumer, kept } = await joined("contended");
    await tell(...Array.from({ length: 20 }, (_, index) => `n${index}`));
    await numbered();
    await Promise.all(Array.from({ length: 4 }, () => handAll(server.services, consumer)));
    await handAll(server.services, consumer);
    expect(kept).toEqual(Array.from({ length: 20 }, (_, index) => `n${index}`));
  });
});
