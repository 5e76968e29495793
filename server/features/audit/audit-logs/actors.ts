import { among, withIds } from "#server/db/dialect/json";
import { preparedRows } from "#server/db/prepared";
import type { Call } from "#server/http/call";

interface Actor {
  actorType: string;
  actorId: string | null;
  actorEmail: string | null;
  resourceId?: string | null;
  resourceName?: string | null;
}

export type NameOf = (entry: Actor) => string;

/** Names of the people and agents of a page of entries, looked up once (docs/audit.md, "Reading entries"). */
export async function namesOfActors(call: Call, entries: readonly Actor[]): Promise<NameOf> {
  const idsOf = (type: string) => [
    ...new Set(entries.flatMap((entry) => (entry.actorType === type && entry.actorId !== null ? [entry.actorId] : []))),
  ];
  const [users, agents] = [idsOf("user"), idsOf("agent")];
  const names = new Map<string, string>();
  if (users.length > 0) {
    // A reader of an entry may know who acted, even if that person has left the tenant.
    const rows = await call.readAsSystem("resolve user names", (db) => usersOf(db, { ids: users }, null));
    for (const row of rows) names.set(row.id, row.name);
  }
  if (agents.length > 0) {
    const rows = await agentsOf(call.db, { ids: agents }, null);
    for (const row of rows) names.set(row.id, `Agent (${row.hostname})`);
  }
  return (entry) => names.get(entry.actorId ?? "") ?? fallback(entry);
}

const usersOf = preparedRows(
  (db, { ids }: { ids: string[] }) =>
    db
      .selectFrom("users")
      .select(["id", "name"])
      .where((eb) => among(db, eb.ref("id"), ids)),
  { by: "key" },
);

const agentsOf = preparedRows(
  (db, { ids }: { ids: string[] }) => withIds(db, "devices", ids).select(["devices.id", "devices.hostname"]),
  { by: "key" },
);

function fallback({ actorType, actorId, actorEmail, resourceId, resourceName }: Actor): string {
  if (actorEmail !== null) return actorEmail;
  if (actorType === "api_key" && actorId !== null) return `API Key ${actorId.slice(0, 8)}`;
  if (actorType !== "agent") return "System";
  // Its device has left: what an agent does about it says what it was called.
  return actorId !== null && resourceId === actorId && resourceName ? `Agent (${resourceName})` : "Agent";
}
