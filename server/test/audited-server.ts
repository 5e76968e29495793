import { afterAll, beforeAll } from "vitest";
import { seedWorld, type World } from "#fixtures/world";
import type { auditEntry } from "../audit/entry.ts";
import { auditHandle } from "../audit/handle.ts";
import { enqueueAudit } from "../audit/outbox.ts";
import { type DatabaseName, type SignedInUser, startTestServer, type TestServer } from "./harness.ts";

/** A server whose audit log is read. */
export interface AuditedServer {
  readonly server: TestServer;
  readonly world: World;
  /** Of the first partner. */
  readonly admin: SignedInUser;
  /** Writes these entries as they are. Returns their ids. */
  record(entries: readonly ReturnType<typeof auditEntry>[]): Promise<string[]>;
}

const AT_ONCE = 500;

/** For the tests of one description. */
export function auditedServer(database: DatabaseName, { name }: { name?: string } = {}): AuditedServer {
  const here: { -readonly [Field in keyof AuditedServer]?: AuditedServer[Field] } = {
    record: async (entries) => {
      const server = here.server as TestServer;
      for (let at = 0; at < entries.length; at += AT_ONCE)
        await server.db.transaction().execute((tx) => enqueueAudit(auditHandle(tx), entries.slice(at, at + AT_ONCE)));
      server.services.wakeAuditWriter();
      await server.settled();
      return entries.map(({ id }) => id);
    },
  };
  beforeAll(async () => {
    here.server = await startTestServer(database);
    here.world = await seedWorld(here.server.db, here.server.services);
    const { partnerId } = here.world.a;
    here.admin = await here.server.signIn({
      role: "Partner Admin",
      partnerId,
      ...(name === undefined ? {} : { name }),
    });
  });
  afterAll(() => here.server?.stop());
  return here as AuditedServer;
}
