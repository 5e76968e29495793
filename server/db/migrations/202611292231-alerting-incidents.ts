import { type SchemaChange, schemaText } from "../schema-change.ts";

/**
 * Tracked incidents (docs/alerting.md, "Incidents"). They outlive what they are about, so nothing is referenced; one is
 * open of each subject.
 */
export const migration: SchemaChange = {
  statements: schemaText(`
create table incidents (
  id {uuid} primary key,
  org_id {uuid},
  partner_id {uuid},
  title text not null,
  severity text not null,
  classification text not null,
  status text not null,
  device_id {uuid},
  source_type text not null,
  source_ref text not null,
  detected_at {ts} not null,
  closed_at {ts},
  created_at {ts} not null,
  updated_at {ts} not null,
  check (severity in ('p1', 'p2', 'p3', 'p4')),
  check (status in ('detected', 'analyzing', 'contained', 'recovering', 'closed')),
  check ((status = 'closed') = (closed_at is not null)),
  check (org_id is null or partner_id is null)
) {strict};
create unique index incidents_open on incidents (source_type, source_ref) where status <> 'closed';
create index incidents_org on incidents (org_id, severity, detected_at, id);
create index incidents_partner on incidents (partner_id, severity, detected_at, id);
`),
};
