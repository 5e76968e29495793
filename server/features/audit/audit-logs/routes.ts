import { auditLogs } from "#contract/resources/audit/audit-logs";
import { implement } from "#server/http/implement";
import { getAuditLog, listAuditEntries, listAuditLogs, searchAuditLogs } from "./list.ts";
import { listChainAnchors, verifyAuditChain } from "./verify.ts";

export const routes = implement(auditLogs, {
  list: listAuditEntries,
  logs: listAuditLogs,
  search: searchAuditLogs,
  getLog: getAuditLog,
  verify: verifyAuditChain,
  anchors: listChainAnchors,
});
