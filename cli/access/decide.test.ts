import { expect, it } from "vitest";
import { specs } from "../test-commands.ts";
import { decideForUser, type UserAccess } from "./decide.ts";

const system: UserAccess = {
  kind: "user",
  scope: "system",
  roleName: "System Admin",
  permissions: ["*:*"],
  orgAccess: null,
  mfaSatisfied: true,
};

it("tells a user without a partner that an endpoint acts on the caller's own partner", async () => {
  const own = (await specs()).filter(({ access }) => access.ownPartner);
  expect(own.length).toBeGreaterThan(1);
  for (const command of own) {
    const { allowed, reasons } = decideForUser(system, { command });
    expect(allowed, command.path).toBe(false);
    expect(reasons).toContain("it acts on the caller's own partner, and you belong to none");
  }
});
