import type pg from "pg";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { seedWorld, type World } from "#fixtures/world";
import { enterScope, type ScopedConnection } from "#server/db/dialect/postgres-scope";
import { type ServerKey, serverKey } from "#server/db/server-key";
import { type Hardened, hardenedDatabase } from "./hardened.ts";
import { startTestServer, type TestServer } from "./harness.ts";

/**
 * A server on a database that is set up for production, for tests of what whoever holds a tenant's connection, or the
 * password of a login, gets. Each attempt is made as that login, and then the rows are looked at from behind.
 */
export interface Place {
  readonly base: Hardened;
  readonly server: TestServer;
  readonly world: World;
  readonly key: ServerKey;
}

/** For the tests of one file. */
export function hardenedServer(): Place {
  const place: { -readonly [Field in keyof Place]?: Place[Field] } = {};
  beforeAll(async () => {
    place.base = await hardenedDatabase();
    place.server = await startTestServer("postgres", place.base.env);
    place.world = await seedWorld(place.server.db, place.server.services);
    place.key = serverKey(place.base.encryptionKey);
  });
  afterAll(async () => {
    await place.server?.stop();
    await place.base?.drop();
  });
  return place as Place;
}

/** A tenant's connection in the hands of a thief, who was told everything that it was ever told. */
export interface Stolen extends Place {
  thief: pg.Client;
  scoped: ScopedConnection;
  /** The scope that the server left it with, and one that it was in before. */
  own: string;
  theirs: string;
  /** The server's key, each of whose signatures is overheard. */
  overheard(): ServerKey;
  /** The server's own steps into another scope. */
  enter(wall: string): Promise<void>;
  /** Every signature that was overheard is refused on this connection. */
  replay(client: pg.Client): Promise<void>;
}

/** A new one for each test. */
export function stolenConnection(): Stolen {
  const told: { wall: string; signature: Buffer }[] = [];
  const stolen = Object.assign(hardenedServer(), {
    overheard: (): ServerKey => ({
      ...stolen.key,
      sign(message) {
        const signature = stolen.key.sign(message);
        told.push({ wall: message.split(" ")[1] as string, signature });
        return signature;
      },
    }),
    enter: async (wall: string) => {
      stolen.scoped = await enterScope(stolen.thief, stolen.scoped, { wall, key: stolen.overheard() });
    },
    replay: async (client: pg.Client) => {
      expect(told.length).toBeGreaterThan(1);
      for (const { wall, signature } of told)
        await refused(client, "select rmm_enter($1, $2, $3)", [wall, stolen.key.id, signature]).toThrow(
          /not signed|currval/,
        );
    },
  }) as Stolen;
  beforeEach(async () => {
    stolen.own = `partner:${stolen.world.a.partnerId}`;
    stolen.theirs = `partner:${stolen.world.b.partnerId}`;
    told.length = 0;
    stolen.thief = await stolen.base.connect("tenant");
    stolen.scoped = await enterScope(stolen.thief, undefined, { wall: "none", key: stolen.overheard() });
    await stolen.enter(stolen.theirs);
    await stolen.enter(stolen.own);
  });
  return stolen;
}

interface Refusal {
  toThrow(message: RegExp): Promise<void>;
}

export const refused = (client: pg.Client, statement: string, values: unknown[] = []): Refusal =>
  expect(
    client.query(statement, values).then(() => undefined),
    statement,
  ).rejects;

export const ids = async (client: pg.Client, table: string) =>
  (await client.query<{ id: string }>(`select id from ${table} order by id`)).rows.map(({ id }) => id);
