/**
 * The room a file of the server belongs to: `tenancy/sites` of `server/features`, else the folder of `server` such as
 * `jobs`; undefined outside the server, and for the files that put it together (`app.ts`, `bootstrap.ts`).
 */
export function roomOf(path: string): string | undefined {
  const feature = /^server\/features\/([^/]+\/[^/]+)\//.exec(path);
  return feature?.[1] ?? /^server\/([^/]+)\//.exec(path)?.[1];
}

/** Features alone: `core/` of an area is a room as the others are. */
export const featureRoomOf = (path: string): string | undefined =>
  path.startsWith("server/features/") ? roomOf(path) : undefined;
