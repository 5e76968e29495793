import { describe, expect, it } from "vitest";
import { commandStatuses } from "#contract/resources/fleet/device-commands";
import { endWithoutAnswer, isOlder, isOpen, MASK, masked, targetRoleOf, transitions } from "./rules.ts";
import { broadcastOf, sameNetwork } from "./subnets.ts";

describe("statuses of a command", () => {
  it("lead nowhere once they are terminal, and nothing that never ran has timed out", () => {
    for (const status of commandStatuses) expect(transitions[status].length > 0).toBe(isOpen(status));
    expect(transitions.pending).not.toContain("timeout");
    expect(transitions.sent).not.toContain("cancelled");
    for (const status of ["pending", "sent"] as const) expect(transitions[status]).toContain(endWithoutAnswer[status]);
  });
});

describe("secrets in a payload", () => {
  it("are masked whole, at any depth, whatever they are", () => {
    const { shown, hidden } = masked({
      target: "10.0.0.1",
      Community: "public",
      v3: { authPassphrase: "x", list: [{ apiKey: "k", name: "n" }] },
      headers: { a: "b" },
      credentials: ["u", "p"],
    });
    expect(hidden).toBe(true);
    expect(shown).toEqual({
      target: "10.0.0.1",
      Community: MASK,
      v3: { authPassphrase: MASK, list: [{ apiKey: MASK, name: "n" }] },
      headers: MASK,
      credentials: MASK,
    });
  });

  it("are not seen where there are none", () => {
    expect(masked({ delayMinutes: 5, reason: "patch" })).toEqual({
      shown: { delayMinutes: 5, reason: "patch" },
      hidden: false,
    });
  });
});

it("the watchdog gets what it can run while it stands in, and nothing else", () => {
  expect(targetRoleOf("reboot", "failover")).toBe("watchdog");
  expect(targetRoleOf("lock", "failover")).toBe("agent");
  expect(targetRoleOf("reboot", "connected")).toBe("agent");
  expect(targetRoleOf("reboot", null)).toBe("agent");
});

it.each([
  ["1.9.0", "1.10.0", true],
  ["1.10.0", "1.9.0", false],
  ["2.0.0-rc.1", "2.0.0", true],
  ["2.0.0", "2.0.0-rc.1", false],
  ["2.0.0", "2.0.0", false],
  ["1.0.0", "unknown", false],
])("%s is older than %s: %s", (version, than, older) => expect(isOlder(version, than)).toBe(older));

it("networks are told apart by their mask, by 24 bits where it is none", () => {
  expect(sameNetwork("10.0.0.4", "10.0.0.9", null)).toBe(true);
  expect(sameNetwork("10.0.0.4", "10.0.1.9", null)).toBe(false);
  expect(sameNetwork("10.0.0.4", "10.0.1.9", "255.255.0.0")).toBe(true);
  expect(sameNetwork("10.0.0.4", "10.0.1.9", "255.0.255.0")).toBe(false);
  expect(sameNetwork("fe80::1", "fe80::1", null)).toBe(false);
  expect(broadcastOf("10.0.0.4", null)).toBe("10.0.0.255");
  expect(broadcastOf("192.168.77.1", "255.255.240.0")).toBe("192.168.79.255");
});
