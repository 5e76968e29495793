import { describe, expect, it } from "vitest";
import { type AuditRow, categoryOf, fullEntry, viewedEntry } from "./view.ts";

const row = (more: Partial<AuditRow> = {}): AuditRow => ({
  ...{ id: "0197a000-0000-7000-8000-000000000001", orgId: null, partnerId: null },
  ...{ timestamp: "2026-03-02T09:00:00.000Z", actorType: "user", actorId: null, actorEmail: "ana@msp.example" },
  ...{ action: "site.update", resourceType: "site", resourceId: null, resourceName: "HQ", details: "{}" },
  ...{ ipAddress: null, userAgent: null, result: "success" },
  ...more,
});
const details = (given: object) => row({ details: JSON.stringify(given) });
const nameOf = () => "Ana Today";

describe("an entry as a viewer shows it", () => {
  it("has the name of its subject, or else its type, and its details as text", () => {
    expect(viewedEntry(row({ details: '{"a":1}' }), nameOf)).toEqual({
      ...{ id: row().id, timestamp: row().timestamp, action: "site.update", resource: "HQ", resourceType: "site" },
      ...{ details: '{"a":1}', ipAddress: null, userAgent: null, sessionId: null },
      user: { name: "Ana Today", email: "ana@msp.example", role: "user", department: "" },
      changes: { before: {}, after: { a: 1 } },
    });
    expect(viewedEntry(row({ resourceName: null }), nameOf).resource).toBe("site");
    expect(viewedEntry(row({ resourceName: null, resourceType: null }), nameOf)).toMatchObject({
      ...{ resource: "", resourceType: "" },
    });
  });

  it("has the session and the changes that its details tell, or else the details as what came after", () => {
    const changed = viewedEntry(details({ before: { a: 1 }, after: { a: 2 }, sessionId: "s", more: 3 }), nameOf);
    expect(changed).toMatchObject({ sessionId: "s", changes: { before: { a: 1 }, after: { a: 2 } } });
    expect(changed.changes.after).toEqual({ a: 2 });
    expect(viewedEntry(details({ after: { a: 2 } }), nameOf).changes).toEqual({ before: {}, after: { a: 2 } });
    expect(viewedEntry(details({ before: { a: 1 } }), nameOf).changes).toEqual({ before: { a: 1 }, after: {} });
    expect(viewedEntry(details({ sessionId: 7 }), nameOf).sessionId).toBeNull();
  });

  it("names who acted as they were called then", () => {
    for (const show of [viewedEntry, fullEntry]) {
      expect(show(details({ actorName: "Ana Then" }), nameOf).user.name).toBe("Ana Then");
      expect(show(details({ actorName: 7 }), nameOf).user.name).toBe("Ana Today");
    }
  });
});

it.each<[string, string]>([
  ...["user.login", "user.login.failed", "user.logout", "user.permission.change"].map((action): [string, string] => [
    action,
    "authentication",
  ]),
  ...["device.create", "device.service.stop"].map((action): [string, string] => [action, "device"]),
  ["script.execute", "automation"],
  ["policy.update", "policy"],
  ["automation.policy.evaluate", "policy"],
  ["alert.resolve", "alert"],
  ["data.export", "compliance"],
  ["organization.archive", "organization"],
  ...["user.invite", "automation.trigger", "device_group.create", "alert_rule.create", "site.create"].map(
    (action): [string, string] => [action, "system"],
  ),
])("%s belongs to %s", (action, category) => {
  expect(categoryOf(action)).toBe(category);
});
