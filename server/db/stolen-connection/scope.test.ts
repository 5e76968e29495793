import { describe, expect, it } from "vitest";
import { ids, refused, stolenConnection } from "../../test/stolen-connection.ts";
import { enterScope } from "../dialect/postgres-scope.ts";

const stolen = stolenConnection();

describe("a tenant's connection, taken over with everything it was ever told", () => {
  it("sees and writes the tenant that the server left it with, and no other", async () => {
    const { base, world, thief, theirs } = stolen;
    expect(await ids(thief, "organizations")).toContain(world.a.orgId);
    expect(await ids(thief, "organizations")).not.toContain(world.b.orgId);
    await thief.query("update organizations set name = 'reached'");
    expect(
      await base.look(`select name from organizations where id = '${world.b.orgId}' and name = 'reached'`),
    ).toEqual([]);
    await thief.query("select set_config('rmm.scope', $1, false)", [theirs]);
    await refused(thief, "select * from organizations").toThrow(/not set by the server/);
  });

  it("repeats no signature: on itself, after a rollback, or on another connection", async () => {
    const { base, thief, own, theirs, enter, replay, overheard } = stolen;
    await replay(thief);
    const other = await base.connect("tenant");
    await replay(other);
    await other.query("select rmm_open_connection()");
    await replay(other);
    // Each attempt used up a turn, so the server would open the connection anew.
    stolen.scoped.turn = undefined;
    await thief.query("begin");
    await enter(theirs);
    await thief.query("rollback");
    await replay(thief);
    await thief.query("begin");
    await thief.query("savepoint before");
    stolen.scoped = await enterScope(thief, undefined, { wall: theirs, key: overheard() });
    await thief.query("rollback to before");
    await thief.query("rollback");
    await replay(thief);
    // Neither the tenant of the transaction that was rolled back, nor the one from before it.
    for (const wall of [theirs, own]) {
      await thief.query("select set_config('rmm.scope', $1, false)", [wall]);
      await refused(thief, "select * from organizations").toThrow(/not set by the server/);
    }
    expect(await ids(other, "organizations")).toEqual([]);
  });

  it("turns no signature into one for another scope", async () => {
    const { key, thief, own, theirs } = stolen;
    const { pid, turn, database } = stolen.scoped;
    const signature = key.sign(["rmm-scope", own, pid, turn, database].join(" "));
    await refused(thief, "select rmm_enter($1, $2, $3)", [theirs, key.id, signature]).toThrow(/not signed/);
  });

  it("keeps the system's scope not a moment longer than the transaction it was signed for", async () => {
    const { world, key, thief, own, replay, overheard } = stolen;
    const lift = async () => {
      const { pid, turn, database } = stolen.scoped;
      const signature = overheard().sign(["rmm-scope", "system", pid, turn, database].join(" "));
      stolen.scoped.turn = (
        await thief.query<{ turn: string }>("select rmm_enter('system', $1, $2)::text as turn", [key.id, signature])
      ).rows[0]?.turn;
    };
    for (const end of ["commit", "rollback"]) {
      await thief.query("begin");
      await lift();
      expect(await ids(thief, "organizations")).toEqual(expect.arrayContaining([world.a.orgId, world.b.orgId]));
      await thief.query(end);
      expect(await ids(thief, "organizations")).not.toContain(world.b.orgId);
      await thief.query("select set_config('rmm.scope', 'system', false)");
      await refused(thief, "select * from organizations").toThrow(/not set by the server/);
      await thief.query("select set_config('rmm.scope', $1, false)", [own]);
      await replay(thief);
      stolen.scoped = await enterScope(thief, undefined, { wall: own, key: overheard() });
    }
    await thief.query("begin");
    await lift();
    await thief.query("select rmm_leave()");
    await thief.query("select set_config('rmm.scope', 'system', true)");
    await refused(thief, "select * from organizations").toThrow(/not set by the server/);
    await thief.query("rollback");
  });

  it("ends five minutes after the server set it, in an open transaction too", async () => {
    const { base, world, thief, own } = stolen;
    const clock = "pg_catalog.statement_timestamp()";
    const [{ text } = { text: "" }] = await base.look<{ text: string }>(
      "select pg_get_functiondef('rmm_scope_holds'::regproc) as text",
    );
    expect(text).toContain(clock);
    const at = (seconds: number) => base.look(text.replace(clock, `(${clock} + '${seconds} seconds'::interval)`));
    await thief.query("begin");
    try {
      await at(290);
      expect(await ids(thief, "organizations")).toContain(world.a.orgId);
      await at(302);
      await refused(thief, "select * from organizations").toThrow(/has ended/);
      await thief.query("rollback");
      await refused(thief, "select * from organizations").toThrow(/has ended/);
    } finally {
      await at(0);
    }
    const { rows } = await thief.query<{ ends: string }>(
      "select split_part(current_setting('rmm.scope'), ' ', 2) as ends",
    );
    const ends = rows[0]?.ends;
    expect(Number(ends)).toBeGreaterThan(Date.now() / 1_000);
    for (const later of [Number(ends) + 60, Number(ends) + 10 ** 9]) {
      await thief.query("select set_config('rmm.scope', $1, false)", [`${own} ${later}`]);
      await refused(thief, "select * from organizations").toThrow(/not set by the server/);
    }
  });

  it("is bound to its session: what another one was given, or it had before, does not count", async () => {
    const { base, thief, theirs, enter } = stolen;
    const scopeOf = async () =>
      (await thief.query<{ scope: string }>("select current_setting('rmm.scope') as scope")).rows[0]?.scope;
    const mine = await scopeOf();
    const other = await base.connect("tenant");
    await other.query("select set_config('rmm.scope', $1, false)", [mine]);
    await refused(other, "select * from organizations").toThrow(/currval/);
    await other.query("select rmm_open_connection()");
    await other.query("select set_config('rmm.scope', $1, false)", [mine]);
    await refused(other, "select * from organizations").toThrow(/not set by the server/);
    await enter(theirs);
    await thief.query("select set_config('rmm.scope', $1, false)", [mine]);
    await refused(thief, "select * from organizations").toThrow(/not set by the server/);
    // Forgetting everything of the session leaves nothing to believe.
    await thief.query("discard all");
    expect(await ids(thief, "organizations")).toEqual([]);
    await thief.query("select set_config('rmm.scope', $1, false)", [mine]);
    await refused(thief, "select * from organizations").toThrow(/currval/);
  });
});
