import type { FieldChange } from "./field-change.ts";
import { type OrganizationPlan, type Step, stepsOf } from "./plan.ts";

const closing: readonly unknown[] = ["suspended", "churned"];
const closed: readonly unknown[] = ["churned", "offboarding"];

/**
 * The steps of one organization in the order that the server allows: it is opened before anything else changes,
 * and suspended or churned after everything else, because a closed organization takes no changes.
 */
export function orderedSteps(plan: OrganizationPlan): readonly Step[] {
  const { organization } = plan;
  const inside = stepsOf(plan).filter((step) => step !== organization);
  if (!organization) return inside;
  const status = organization.changes.find(({ field }) => field === "status");
  if (!status) return [organization, ...inside];
  const rest = organization.changes.filter((change) => change !== status);
  if (organization.action === "create" && closing.includes(status.after) && inside.length > 0) {
    const opened = organization.changes.map((one) => (one === status ? { ...one, after: "active" } : one));
    const open = { ...organization, changes: opened, body: { ...organization.body, status: "active" } };
    return [open, ...inside, update(organization, [{ ...status, before: "active" }])];
  }
  if (organization.action === "update" && closing.includes(status.after) && inside.length > 0) {
    return [...(rest.length > 0 ? [update(organization, rest)] : []), ...inside, update(organization, [status])];
  }
  if (organization.action === "update" && closed.includes(status.before) && rest.length > 0) {
    return [update(organization, [status]), update(organization, rest), ...inside];
  }
  return [organization, ...inside];
}

const update = (organization: Step, changes: readonly FieldChange[]): Step => ({
  ...organization,
  action: "update",
  changes,
  body: Object.fromEntries(changes.map(({ field, after }) => [field, after])),
});
