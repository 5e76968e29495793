import { expect, it } from "vitest";
import { builtInRoles } from "#contract/core/permissions";
import { builtInRoleId as idOfServer } from "#server/access/roles";
import { builtInRoleId, roleIdOf } from "./role-names.ts";

it("names a built-in role by the id that every server gives it, whatever the letter case", async () => {
  for (const { name } of builtInRoles) {
    expect(builtInRoleId(name)).toBe(idOfServer(name));
    expect(await roleIdOf(name.toUpperCase())).toBe(idOfServer(name));
  }
});

it("says which roles there are when a name is wrong", async () => {
  await expect(roleIdOf("Partner Admn")).rejects.toMatchObject({ code: "UNKNOWN_ROLE", hint: /Partner Admin/ });
});
