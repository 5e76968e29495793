import type { incidentSeverities, incidentStatuses } from "#contract/resources/alerting/incidents";
import type { Fixed } from "../column-types.ts";
import type { Declared } from "../table-declaration.ts";

/** What needs somebody's attention; of an organization, of a whole partner, or of the installation. */
export interface IncidentsTable {
  id: Fixed<string>;
  orgId: Fixed<string | null>;
  partnerId: Fixed<string | null>;
  title: Fixed<string>;
  severity: Fixed<(typeof incidentSeverities)[number]>;
  classification: Fixed<"audit_integrity">;
  status: (typeof incidentStatuses)[number];
  deviceId: Fixed<string | null>;
  /** What it is about: there is one open incident of it at most. */
  sourceType: Fixed<"audit_chain">;
  sourceRef: Fixed<string>;
  detectedAt: Fixed<string>;
  closedAt: string | null;
  createdAt: Fixed<string>;
  updatedAt: string;
}

export interface AlertingTables {
  incidents: IncidentsTable;
}

export const alertingTables = {
  // The server raises and closes them.
  incidents: { owner: "tenant", writtenBy: "alerting/incidents", lifted: ["insert", "update", "delete"] },
} as const satisfies Declared<AlertingTables>;
