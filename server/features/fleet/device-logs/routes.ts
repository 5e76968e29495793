import { deviceLogs } from "#contract/resources/fleet/device-logs";
import { limited } from "#server/features/audit/audit-logs/limited";
import { implement } from "#server/http/implement";
import { listDiagnosticLogs } from "./diagnostic.ts";
import { listEvents } from "./events.ts";
import { submitLogs } from "./submit.ts";
import { submitEvents } from "./submit-events.ts";

export const routes = implement(deviceLogs, {
  submit: submitLogs,
  submitEvents,
  diagnostic: limited(listDiagnosticLogs),
  events: limited(listEvents),
});
