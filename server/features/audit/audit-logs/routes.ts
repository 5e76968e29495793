import { auditLogs } from "#contract/resources/audit/audit-logs";
import { implement } from "#server/http/implement";
import { listChainAnchors } from "./anchors.ts";
import { exportChainBundle } from "./bundle.ts";
import { exportAuditCsv, exportAuditLogs } from "./export.ts";
import { limited } from "./limited.ts";
import { getAuditLog, listAuditEntries, listAuditLogs, searchAuditLogs } from "./list.ts";
import { proveEntry } from "./prove.ts";
import { reportCompliance, reportSecurityEvents, reportStats, reportUserActivity } from "./reports.ts";
import { verifyAuditChain } from "./verify.ts";

export const routes = implement(auditLogs, {
  list: limited(listAuditEntries),
  logs: limited(listAuditLogs),
  search: limited(searchAuditLogs),
  getLog: limited(getAuditLog),
  proof: limited(proveEntry),
  export: exportAuditLogs,
  exportCsv: exportAuditCsv,
  bundle: exportChainBundle,
  userActivity: limited(reportUserActivity),
  securityEvents: limited(reportSecurityEvents),
  compliance: limited(reportCompliance),
  stats: limited(reportStats),
  verify: verifyAuditChain,
  anchors: listChainAnchors,
});
