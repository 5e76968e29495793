import { expect, it } from "vitest";
import type { Access } from "#contract/core/access";
import { allEndpoints } from "#contract/index";
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

it("lets in whoever may do a part of what a command does, or holds what is enough instead, as the server does", async () => {
  const enoughFor = ({ access }: { access: Access }) => access.lesserPermission ?? access.otherPermission;
  const inPart = allEndpoints().filter((endpoint) => enoughFor(endpoint) !== undefined);
  expect(inPart.length).toBeGreaterThan(1);
  for (const { method, path, access } of inPart) {
    const command = (await specs()).find((one) => one.method === method && one.path === path);
    const may = (permission: string) =>
      decideForUser({ ...system, permissions: [permission] }, { command: command! }).allowed;
    expect(may(enoughFor({ access }) as string), `${method} ${path}`).toBe(true);
    expect(may("audit:read"), `${method} ${path}`).toBe(false);
  }
});

it("tells a user without a partner that an endpoint acts on the caller's own partner", async () => {
  const own = (await specs()).filter(({ access }) => access.ownPartner);
  expect(own.length).toBeGreaterThan(1);
  for (const command of own) {
    const { allowed, reasons } = decideForUser(system, { command });
    expect(allowed, command.path).toBe(false);
    expect(reasons).toContain("it acts on the caller's own partner, and you belong to none");
  }
});
