import { problem } from "#server/problem";

export type DeviceSort = "hostname" | "lastSeen" | "enrolled";
export type SortDirection = "asc" | "desc";

/** Where a walk stands: behind this key and id of this order. */
export interface DeviceCursor {
  readonly v: 1;
  readonly sort: DeviceSort;
  readonly sortDir: SortDirection;
  readonly key: string | null;
  readonly id: string;
}

export const defaultDirection: Readonly<Record<DeviceSort, SortDirection>> = {
  hostname: "asc",
  lastSeen: "desc",
  enrolled: "desc",
};

export const encodeCursor = (cursor: DeviceCursor): string => Buffer.from(JSON.stringify(cursor)).toString("base64url");

interface Wanted {
  sort?: DeviceSort | undefined;
  sortDir?: SortDirection | undefined;
}

/** The order of a walk and where it stands; a cursor alone carries its order, one of another order is refused. */
export function readCursor(text: string | undefined, wanted: Wanted) {
  if (text === undefined || text === "") {
    const sort = wanted.sort ?? "hostname";
    return { sort, sortDir: wanted.sortDir ?? defaultDirection[sort], from: undefined };
  }
  const from = decode(text);
  if (!from) throw problem("INVALID_CURSOR");
  if (wanted.sort !== undefined && wanted.sort !== from.sort) throw problem("INVALID_CURSOR");
  if (wanted.sortDir !== undefined && wanted.sortDir !== from.sortDir) throw problem("INVALID_CURSOR");
  return { sort: from.sort, sortDir: from.sortDir, from };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/** Undefined for anything that `encodeCursor` cannot have made: no value of it reaches the database unchecked. */
function decode(text: string): DeviceCursor | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(text)) return undefined;
  let value: Partial<Record<keyof DeviceCursor, unknown>> | null;
  try {
    value = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
  if (value === null || typeof value !== "object") return undefined;
  const { v, sort, sortDir, key, id } = value;
  if (v !== 1 || (sortDir !== "asc" && sortDir !== "desc") || typeof id !== "string" || !UUID.test(id))
    return undefined;
  if (sort === "hostname") return isText(key) ? { v, sort, sortDir, key, id } : undefined;
  if (sort !== "lastSeen" && sort !== "enrolled") return undefined;
  return key === null || isInstant(key) ? { v, sort, sortDir, key, id } : undefined;
}

const isText = (key: unknown): key is string =>
  typeof key === "string" && key.length <= 2_048 && !key.includes("\u0000") && key.isWellFormed();

const isInstant = (key: unknown): key is string =>
  typeof key === "string" && INSTANT.test(key) && !Number.isNaN(Date.parse(key));
