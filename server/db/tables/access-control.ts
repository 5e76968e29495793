import type { Declared } from "../table-declaration.ts";
import type { AuthenticatorPoliciesTable } from "./approver-devices.ts";
import type { ElevationAuditTable, ElevationRequestsTable, ElevationServerDevicesTable } from "./elevation-requests.ts";
import type { PamConfigsTable, PamRulesTable, SignerGroupsTable } from "./pam-rules.ts";
import type { ToolExecutionsTable } from "./tool-executions.ts";

export interface AccessControlTables {
  pamRules: PamRulesTable;
  signerGroups: SignerGroupsTable;
  pamConfigs: PamConfigsTable;
  elevationRequests: ElevationRequestsTable;
  elevationAudit: ElevationAuditTable;
  elevationServerDevices: ElevationServerDevicesTable;
  toolExecutions: ToolExecutionsTable;
  authenticatorPolicies: AuthenticatorPoliciesTable;
}

// A tenant's own connection decides nothing, nor writes what does: the server does, once it has judged the caller.
export const accessControlTables = {
  pamRules: {
    owner: "org+site",
    writtenBy: "access-control/pam-rules",
    lifted: ["insert", "update", "delete"],
    booleans: ["enabled"],
    json: ["matchNegate", "timeWindow"],
  },
  signerGroups: {
    owner: "org",
    writtenBy: "access-control/signer-groups",
    lifted: ["insert", "update", "delete"],
    json: ["signers"],
  },
  pamConfigs: {
    owner: "org",
    writtenBy: "access-control/pam-config",
    lifted: ["insert", "update", "delete"],
  },
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
  toolExecutions: {
    owner: "org",
    writtenBy: "access-control/tool-executions",
    lifted: ["insert", "update", "delete"],
    json: ["outcome"],
  },
  // What may only be raised is judged by the server.
  authenticatorPolicies: {
    owner: "partner",
    writtenBy: "access-control/approver-devices",
    lifted: ["insert", "update", "delete"],
    booleans: ["requireEnrollment"],
    json: ["floorOverrides"],
  },
} as const satisfies Declared<AccessControlTables>;
