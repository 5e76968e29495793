import { auditLogs } from "#contract/resources/audit/audit-logs";
import { implement } from "#server/http/implement";
import { listChainAnchors } from "./anchors.ts";
import { getAuditLog, listAuditEntries, listAuditLogs, searchAuditLogs } from "./list.ts";
import { verifyAuditChain } from "./verify.ts";

export const routes = implement(auditLogs, {
  list: listAuditEntries,
  logs: listAuditLogs,
  search: searchAuditLogs,
  getLog: getAuditLog,
  verify: verifyAuditChain,
  anchors: listChainAnchors,
});
