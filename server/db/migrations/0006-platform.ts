import { ringFunction } from "../dialect/rate-ring.ts";
import { type SchemaChange, schemaText } from "../schema-change.ts";

/** The database as the engine replicas share: jobs, leases, rate limits, idempotency, mail. */
export const migration: SchemaChange = {
  statements: (dialect) => [
    ...tables(dialect),
    ...rateLimitTable(dialect),
    ...(dialect === "postgres" ? [ringFunction] : []),
  ],
};

const tables = schemaText(`
create table jobs (
  id {uuid} primary key,
  kind text not null,
  payload {json} not null,
  status text not null,
  unique_key text,
  run_at {ts} not null,
  attempts {int} not null,
  max_attempts {int} not null,
  locked_by text,
  locked_until {ts},
  last_error text,
  created_at {ts} not null,
  updated_at {ts} not null
) {strict};
create index jobs_due on jobs (status, run_at);
create unique index jobs_unique on jobs (unique_key) where status in ('queued', 'running');

create table leases (
  name text primary key,
  holder text not null,
  expires_at {ts} not null
) {strict};

create table idempotency_keys (
  id {uuid} primary key,
  request_hash text not null unique,
  body_hash text not null,
  state text not null,
  owner text not null,
  status {int},
  response text,
  sealed {bool} not null,
  salt text,
  created_at {ts} not null,
  expires_at {ts} not null
) {strict};
create index idempotency_keys_expiry on idempotency_keys (expires_at);

create table mail_outbox (
  id {uuid} primary key,
  recipient text not null,
  subject text not null,
  body_sealed text,
  status text not null,
  attempts {int} not null,
  last_error text,
  created_at {ts} not null,
  sent_at {ts}
) {strict};
`);

/** A table of its own script: the embedded server keeps it in memory (`Store.volatile`). */
export const rateLimitTable = schemaText(`
create table rate_limits (
  key text primary key,
  head {bigint} not null,
  ring {ring} not null,
  used {bigint} not null,
  oldest {bigint},
  expires_at {ts} not null
) {updated};
create index rate_limits_expiry on rate_limits (expires_at);
`);
