import { auditRetention } from "#contract/resources/audit/audit-retention";
import { implement } from "#server/http/implement";
import { getAuditRetention } from "./get.ts";
import { setAuditRetention } from "./set.ts";

export const routes = implement(auditRetention, { get: getAuditRetention, set: setAuditRetention });
