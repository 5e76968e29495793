import type { ColumnType } from "kysely";
import type { EventKind } from "#contract/core/events";
import type { Fixed, Json } from "../column-types.ts";
import type { Declared } from "../table-declaration.ts";

/** Durable work: claimed by one worker at a time, repeated until it succeeds or runs out of attempts. */
export interface JobsTable {
  id: Fixed<string>;
  kind: Fixed<string>;
  payload: Fixed<Json>;
  status: "queued" | "running" | "done" | "failed";
  /** At most one unfinished job per key. */
  uniqueKey: string | null;
  runAt: string;
  attempts: number;
  maxAttempts: Fixed<number>;
  lockedBy: string | null;
  lockedUntil: string | null;
  lastError: string | null;
  createdAt: Fixed<string>;
  updatedAt: string;
}

/** Named leadership that one replica holds until it expires. */
export interface LeasesTable {
  name: Fixed<string>;
  holder: string;
  expiresAt: string;
}

/** Ring of 61 buckets that together cover one window; read and written by `dialect/rate-ring.ts` alone. */
export interface RateLimitsTable {
  key: Fixed<string>;
  head: number;
  /** JSON text on SQLite, an integer array on Postgres. */
  ring: string;
  /** Calls in the ring, and its oldest bucket that counts any. */
  used: number;
  oldest: number | null;
  /** A whole window apart, so that most calls change no indexed column. */
  expiresAt: string;
}

export interface IdempotencyKeysTable {
  id: Fixed<string>;
  /** HMAC of caller, method, path and the client's key. */
  requestHash: Fixed<string>;
  bodyHash: string;
  state: "running" | "done";
  /** Run token: only the run that made the row may finish it. */
  owner: string;
  /** The server process whose run this is; null on records from before this column. */
  processId: string | null;
  status: number | null;
  /** Plain JSON, or sealed where the response shows a secret. */
  response: string | null;
  sealed: boolean;
  salt: string | null;
  createdAt: Fixed<string>;
  /** End of the run's lease while running, of the memory (24 h) once done. */
  expiresAt: string;
}

export interface MailOutboxTable {
  id: Fixed<string>;
  recipient: Fixed<string>;
  subject: Fixed<string>;
  /** Sealed: mails carry one-time links. */
  bodySealed: string | null;
  status: "queued" | "sent" | "failed";
  attempts: number;
  lastError: string | null;
  createdAt: Fixed<string>;
  sentAt: string | null;
}

/** What happened, written with the change it tells of. */
export interface EventsTable {
  seq: ColumnType<number, never, never>;
  /** Its place in the order in which events are handed out: without gaps, given after the commit. */
  position: ColumnType<number | null, null | undefined, number>;
  /** The same wherever the event is told. */
  id: Fixed<string>;
  kind: Fixed<EventKind>;
  orgId: Fixed<string | null>;
  /** Set where there is no organization. */
  partnerId: Fixed<string | null>;
  siteId: Fixed<string | null>;
  subjectType: Fixed<string>;
  subjectId: Fixed<string>;
  data: Fixed<Json>;
  occurredAt: Fixed<string>;
}

/** How far each consumer of events has come; `numbering` has the last position given. */
export interface EventCursorsTable {
  consumer: Fixed<string>;
  position: number;
  /** Failures at the next event. */
  attempts: number;
  retryAt: string | null;
  /** Events that were given up. */
  setAside: number;
}

/** An event that a consumer could not take. */
export interface SetAsideEventsTable {
  consumer: Fixed<string>;
  eventId: Fixed<string>;
  setAsideAt: Fixed<string>;
}

export interface PlatformTables {
  jobs: JobsTable;
  leases: LeasesTable;
  rateLimits: RateLimitsTable;
  idempotencyKeys: IdempotencyKeysTable;
  mailOutbox: MailOutboxTable;
  events: EventsTable;
  eventCursors: EventCursorsTable;
  setAsideEvents: SetAsideEventsTable;
}

export const platformTables = {
  jobs: { owner: "system", writtenBy: "jobs", json: ["payload"] },
  leases: { owner: "system", writtenBy: "jobs" },
  rateLimits: { owner: "system", writtenBy: "db" },
  idempotencyKeys: { owner: "system", writtenBy: "http", booleans: ["sealed"] },
  mailOutbox: { owner: "system", writtenBy: "jobs" },
  events: { owner: "tenant", writtenBy: "events", lifted: ["insert", "update", "delete"], json: ["data"] },
  eventCursors: { owner: "system", writtenBy: "events" },
  setAsideEvents: { owner: "system", writtenBy: "events" },
} as const satisfies Declared<PlatformTables>;
