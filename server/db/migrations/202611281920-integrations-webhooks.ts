import { type SchemaChange, schemaText } from "../schema-change.ts";

/** Webhooks with their deliveries (docs/integrations.md, "Webhooks"). */
export const migration: SchemaChange = {
  statements: schemaText(`
create table webhooks (
  id {uuid} primary key,
  org_id {uuid} not null references organizations (id),
  name text not null,
  url_sealed text not null,
  url_shown text not null,
  target text not null,
  events {json} not null,
  header_keys {json} not null,
  headers_sealed text,
  secret_sealed text not null,
  retry_policy {json} not null,
  status text not null check (status in ('active', 'paused', 'failed')),
  written_by text not null check (written_by in ('organization', 'partner', 'system')),
  success_count {int} not null,
  failure_count {int} not null,
  consecutive_failures {int} not null,
  last_delivery_at {ts},
  last_success_at {ts},
  created_by {uuid} references users (id) on delete set null,
  created_at {ts} not null,
  updated_at {ts} not null,
  unique (org_id, id)
) {strict};
create index webhooks_by_org on webhooks (org_id, created_at, id);
create table webhook_deliveries (
  id {uuid} primary key,
  org_id {uuid} not null,
  webhook_id {uuid} not null,
  event text not null,
  event_id {uuid} not null,
  sent_body text not null,
  origin text not null check (origin in ('event', 'test', 'retry')),
  status text not null check (status in ('pending', 'retrying', 'delivered', 'failed')),
  attempts {int} not null,
  next_attempt_at {ts},
  response_status {int},
  response_body text,
  response_time_ms {int},
  error_message text,
  created_at {ts} not null,
  updated_at {ts} not null,
  delivered_at {ts},
  foreign key (org_id, webhook_id) references webhooks (org_id, id) on delete cascade
) {strict};
create index webhook_deliveries_newest on webhook_deliveries (webhook_id, created_at, id);
create index webhook_deliveries_by_status on webhook_deliveries (webhook_id, status, created_at, id);
create index webhook_deliveries_waiting on webhook_deliveries (webhook_id, next_attempt_at, id)
  where status in ('pending', 'retrying');
create unique index webhook_deliveries_once on webhook_deliveries (webhook_id, event_id) where origin = 'event';
create table webhook_queues (
  org_id {uuid} primary key references organizations (id),
  due_at {ts},
  changes {bigint} not null,
  holder {uuid},
  held_until {ts}
) {strict};
create index webhook_queues_due on webhook_queues (due_at) where due_at is not null;
`),
};
