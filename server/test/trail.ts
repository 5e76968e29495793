import type { TestServer } from "./harness.ts";

export interface TrailEntry {
  orgId: string | null;
  partnerId: string | null;
  actorType: string;
  actorId: string | null;
  actorEmail: string | null;
  action: string;
  resourceId: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at whatever the entry says
  details: any;
  ipAddress: string | null;
  result: string;
}

/** Every audit entry of an action so far, wherever the writer has got to, oldest first. */
export async function trailOf(server: TestServer, action: string): Promise<TrailEntry[]> {
  const written = await server.db.selectFrom("auditLogs").selectAll().orderBy("id").execute();
  const waiting = await server.db.selectFrom("auditOutbox").selectAll().orderBy("id").execute();
  const entries = [
    ...written.map((row) => ({ ...row, details: JSON.parse(row.details) }) as unknown as TrailEntry & { id: string }),
    ...waiting.map(({ entry }) => fromCanonical(typeof entry === "string" ? JSON.parse(entry) : entry)),
  ];
  return [...new Map(entries.map((entry) => [entry.id, entry])).values()].filter((entry) => entry.action === action);
}

function fromCanonical(content: (string | null)[]): TrailEntry & { id: string } {
  const [, id, orgId, partnerId, , actorType, actorId, actorEmail, action, , resourceId, , details] = content;
  const [ipAddress, , result] = content.slice(13);
  return {
    id,
    orgId,
    partnerId,
    actorType,
    actorId,
    actorEmail,
    action,
    resourceId,
    details: JSON.parse(details as string),
    ipAddress,
    result,
  } as TrailEntry & { id: string };
}
