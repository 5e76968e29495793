import type { Declared } from "../table-declaration.ts";
import type { ElevationAuditTable, ElevationRequestsTable, ElevationServerDevicesTable } from "./elevation-requests.ts";

export interface AccessControlTables {
  elevationRequests: ElevationRequestsTable;
  elevationAudit: ElevationAuditTable;
  elevationServerDevices: ElevationServerDevicesTable;
}

export const accessControlTables = {
  // A tenant's own connection decides nothing: the server does, once it has judged the caller.
  elevationRequests: {
    owner: "org",
    writtenBy: "access-control/elevation-requests",
    lifted: ["insert", "update", "delete"],
    json: ["toolInput", "toolTargets"],
  },
  elevationAudit: {
    owner: "org",
    writtenBy: "access-control/elevation-requests",
    lifted: ["insert", "update", "delete"],
    json: ["facts"],
  },
  elevationServerDevices: { owner: "system", writtenBy: "access-control/elevation-requests" },
} as const satisfies Declared<AccessControlTables>;
