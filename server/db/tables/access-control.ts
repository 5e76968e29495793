import type { Declared } from "../table-declaration.ts";
import type { PamConfigsTable, PamRulesTable, SignerGroupsTable } from "./pam-rules.ts";

export interface AccessControlTables {
  pamRules: PamRulesTable;
  signerGroups: SignerGroupsTable;
  pamConfigs: PamConfigsTable;
}

export const accessControlTables = {
  pamRules: {
    owner: "org+site",
    writtenBy: "access-control/pam-rules",
    booleans: ["enabled"],
    json: ["matchNegate", "timeWindow"],
  },
  signerGroups: { owner: "org", writtenBy: "access-control/signer-groups", json: ["signers"] },
  pamConfigs: { owner: "org", writtenBy: "access-control/pam-config" },
} as const satisfies Declared<AccessControlTables>;
