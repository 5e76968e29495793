import { describe, expect, it } from "vitest";
import { elevationStatuses } from "#contract/core/elevation";
import { isServer, isSubject, leadingTo, transitions } from "./rules.ts";

describe("states of a request", () => {
  it("are those of the table, and what is final leads nowhere", () => {
    expect(Object.keys(transitions).toSorted()).toEqual([...elevationStatuses].toSorted());
    for (const end of ["denied", "expired", "revoked"] as const) expect(transitions[end]).toEqual([]);
    expect(leadingTo("approved")).toEqual(["pending"]);
    expect(leadingTo("actuating")).toEqual(["approved"]);
    expect(leadingTo("revoked")).toEqual(["approved", "auto_approved", "actuating"]);
    expect(leadingTo("auto_approved")).toEqual([]);
  });
});

describe("who approves for themselves", () => {
  const caller = { userId: "u1", email: "Jana.Novak@contoso.example" };
  const subject = (subjectUsername: string, subjectUserId: string | null = null) =>
    isSubject({ subjectUsername, subjectUserId }, caller);

  it("is found by account, and by name whole, behind a domain and before a realm, whatever the case", () => {
    expect(subject("somebody", "u1")).toBe(true);
    for (const name of [
      "jana.novak",
      "JANA.NOVAK",
      "CONTOSO\\jana.novak",
      "FOREST\\CONTOSO\\Jana.Novak",
      "jana.novak@contoso.example",
      "jana.novak@corp.local",
      "CONTOSO\\jana.novak@corp.local",
      " jana.novak ",
      "jana.\u200bnovak",
      "\uff2a\uff21\uff2e\uff21.novak",
      "jana.novak\uff20corp.local",
      "CONTOSO\uff3cjana.novak",
      "CONTOSO\ufe68jana.novak\ufe6bcorp.local",
    ])
      expect([name, subject(name)]).toEqual([name, true]);
  });

  it("is nobody else", () => {
    for (const name of ["jana", "novak", "", "jana.novak2", "contoso.example", "CONTOSO\\", "@contoso.example", "u1"])
      expect([name, subject(name)]).toEqual([name, false]);
    expect(subject("somebody", "u2")).toBe(false);
  });
});

describe("risk", () => {
  it("is the highest on servers, by role or by edition", () => {
    expect(isServer({ deviceRole: "server", osVersion: "Windows 11" })).toBe(true);
    expect(isServer({ deviceRole: "workstation", osVersion: "Windows SERVER 2022 Standard" })).toBe(true);
    expect(isServer({ deviceRole: "workstation", osVersion: "Windows 11" })).toBe(false);
  });
});
