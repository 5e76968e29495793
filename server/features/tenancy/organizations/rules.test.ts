import { describe, expect, it } from "vitest";
import { organizationStatuses } from "#contract/resources/tenancy/organizations";
import { decideStatus } from "#server/features/tenancy/organizations/rules";

describe("status of an organization", () => {
  it("stays when it is not named or named again", () => {
    for (const status of organizationStatuses) {
      expect(decideStatus(status, undefined)).toBe("keep");
      expect(decideStatus(status, status)).toBe("keep");
    }
  });

  it("changes along these ways and no other", () => {
    const changes = organizationStatuses.flatMap((from) =>
      organizationStatuses.filter((to) => decideStatus(from, to) === "change").map((to) => `${from} to ${to}`),
    );
    expect(changes.sort()).toEqual([
      "active to churned",
      "active to offboarding",
      "active to suspended",
      "active to trial",
      "churned to active",
      "churned to trial",
      "offboarding to active",
      "offboarding to churned",
      "offboarding to trial",
      "suspended to active",
      "suspended to churned",
      "suspended to offboarding",
      "suspended to trial",
      "trial to active",
      "trial to churned",
      "trial to offboarding",
      "trial to suspended",
    ]);
  });

  it("distinguishes statuses that may never be requested from those that are not possible now", () => {
    for (const status of ["archived", "merging", "purging"] as const) {
      expect(decideStatus("active", status)).toBe("INVALID_STATUS");
      expect(decideStatus(status, "active")).toBe("INVALID_TRANSITION");
    }
    expect(decideStatus("churned", "offboarding")).toBe("INVALID_TRANSITION");
    expect(decideStatus("churned", "suspended")).toBe("INVALID_TRANSITION");
  });
});
