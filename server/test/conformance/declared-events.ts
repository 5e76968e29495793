import { expect } from "vitest";
import { events } from "#contract/core/events";
import type { ToldEvent } from "../events-of.ts";
import type { Case } from "./cases.ts";

/** Whose examples tell nothing of what they may tell, with the test that has the cases in which they do. */
const elsewhere: Readonly<Record<string, string>> = {
  "agentReports.inventory": "server/features/fleet/agent-reports/agent-reports.test.ts",
  "agents.heartbeat": "server/features/fleet/agents/heartbeat.test.ts",
  "ssoLogins.callback": "server/features/sign-in/sso-logins/sso-logins.test.ts",
  "ssoLogins.callbackOfProvider": "server/features/sign-in/sso-logins/bindings.test.ts",
};

/** Kinds that two organizations are told, each for itself. */
const ofTwo: readonly string[] = ["device.moved"];

interface Known {
  /** The tenants whose the events may be. */
  readonly owners: readonly string[];
  /** Every id that belongs to the tenant, or that the call was about. */
  readonly ids: readonly string[];
}

/** A success tells what its endpoint declares: all of `emits`, of `mayEmit` something, and nothing else. */
export function refuseWrongEvents({ name, endpoint }: Case, told: readonly ToldEvent[], { owners, ids }: Known): void {
  const kinds = told.map(({ kind }) => kind);
  const { emits, mayEmit } = endpoint;
  expect(kinds.filter((kind) => !mayEmit.includes(kind)).toSorted(), name).toEqual(
    emits.flatMap((kind) => (ofTwo.includes(kind) ? [kind, kind] : [kind])).toSorted(),
  );
  if (emits.length === 0 && mayEmit.length > 0 && !(name in elsewhere)) expect(kinds, name).not.toEqual([]);
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
