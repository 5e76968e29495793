import { expect } from "vitest";
import { type EventKind, events } from "#contract/core/events";
import type { ToldEvent } from "../events-of.ts";
import type { Case } from "./cases.ts";

const leaving = {
  "elevation.expired": "access-control/elevation-requests/with-device.test.ts",
  "elevation.revoked": "access-control/elevation-requests/with-device.test.ts",
};

/** What endpoints may tell and their examples do not, with the test beside them that has the case in which they do. */
export const elsewhere: Readonly<Record<string, Partial<Record<EventKind, string>>>> = {
  "agentReports.inventory": { "device.updated": "fleet/agent-reports/agent-reports.test.ts" },
  "agentReports.security": { "security.threat_detected": "security/threats/threats.test.ts" },
  "agents.enroll": {
    "device.online": "fleet/agents/enroll.test.ts",
    "site.created": "fleet/agents/enroll.test.ts",
  },
  "agents.heartbeat": {
    "device.online": "fleet/agents/heartbeat.test.ts",
    "device.main_agent_silent": "fleet/agents/heartbeat.test.ts",
    "device.updated": "fleet/agents/identity-change.test.ts",
  },
  "agents.submitResult": {
    "device.command.failed": "fleet/device-commands/device-commands.test.ts",
    "device.decommissioned": "fleet/devices/change-devices.test.ts",
    "elevation.activated": "access-control/elevation-requests/carrying-out.test.ts",
  },
  "deviceGroups.update": { "group.membership_changed": "fleet/device-groups/device-groups.test.ts" },
  "deviceGroups.pin": { "group.membership_changed": "fleet/device-groups/dynamic-groups.test.ts" },
  "deviceGroups.addDevices": { "group.membership_changed": "fleet/device-groups/device-groups.test.ts" },
  "devices.update": {
    "device.command.failed": "fleet/devices/change-devices.test.ts",
    "device.offline": "fleet/devices/change-devices.test.ts",
    "device.online": "fleet/devices/change-devices.test.ts",
    ...leaving,
  },
  "devices.remove": leaving,
  "devices.moveOrg": leaving,
  "elevationRequests.report": {
    "elevation.auto_approved": "access-control/elevation-requests/report.test.ts",
    "elevation.denied": "access-control/elevation-requests/report.test.ts",
  },
  "elevationRequests.respond": {
    "elevation.approved": "access-control/elevation-requests/deciding.test.ts",
    "elevation.expired": "access-control/elevation-requests/deciding.test.ts",
  },
  "mcpTools.send": {
    "device.updated": "integrations/mcp-tools/tools.test.ts",
    "elevation.auto_approved": "integrations/mcp-tools/gate.test.ts",
    "elevation.denied": "integrations/mcp-tools/gate.test.ts",
    "elevation.requested": "integrations/mcp-tools/gate.test.ts",
  },
  "organizations.update": {
    "organization.offboarding": "tenancy/organizations/organizations.test.ts",
    "device.command.failed": "fleet/devices/change-devices.test.ts",
  },
  "ssoLogins.callback": { "user.login": "sign-in/sso-logins/sso-logins.test.ts" },
  "ssoLogins.callbackOfProvider": { "user.login": "sign-in/sso-logins/bindings.test.ts" },
};

/** Kinds that two organizations are told, each for itself. */
const ofTwo: readonly string[] = ["device.moved"];

interface Known {
  /** The tenants whose the events may be. */
  readonly owners: readonly string[];
  /** Every id that belongs to the tenant, or that the call was about. */
  readonly ids: readonly string[];
}

/** A success tells what its endpoint declares: all of `emits`, of `mayEmit` what no other test tells, and nothing else. */
export function refuseWrongEvents({ name, endpoint }: Case, told: readonly ToldEvent[], { owners, ids }: Known): void {
  const kinds = told.map(({ kind }) => kind);
  const { emits, mayEmit } = endpoint;
  expect(kinds.filter((kind) => !mayEmit.includes(kind)).toSorted(), name).toEqual(
    emits.flatMap((kind) => (ofTwo.includes(kind) ? [kind, kind] : [kind])).toSorted(),
  );
  const untold = mayEmit.filter((kind) => !kinds.includes(kind));
  expect(untold.toSorted(), `${name} tells in no case`).toEqual(Object.keys(elsewhere[name] ?? {}).toSorted());
  for (const event of told) {
    expect(owners, `${name}: whose is ${event.kind}?`).toContain(event.orgId ?? event.partnerId);
    const { about, data } = events[event.kind];
    expect(data().parse(event.data), event.kind).toEqual(event.data);
    expect([about, event.data[`${about}Id`]]).toEqual([event.subjectType, event.subjectId]);
    const foreign = idsIn(event).filter((id) => !ids.includes(id));
    expect(foreign, `${name}: ${event.kind} holds ids that are not the tenant's`).toEqual([]);
  }
}

const uuids = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

export const idsIn = (value: unknown): string[] => [...JSON.stringify(value ?? null).matchAll(uuids)].map(([id]) => id);
