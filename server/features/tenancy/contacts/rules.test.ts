import { describe, expect, it } from "vitest";
import { contactRoles } from "#contract/resources/tenancy/contacts";
import { contactProblem, distinctRoles } from "#server/features/tenancy/contacts/rules";

const nobody = { name: null, email: null, phone: null, mobile: null, roles: [] };

describe("contact rules", () => {
  it.each(["name", "email", "phone", "mobile"])("is satisfied by %s alone", (field) => {
    expect(contactProblem({ ...nobody, [field]: "x" })).toBeUndefined();
  });

  it("refuses a contact without a name, email or number, before it looks at roles", () => {
    expect(contactProblem(nobody)).toBe("no-identifier");
    expect(contactProblem({ ...nobody, roles: ["nonsense"] })).toBe("no-identifier");
  });

  it("knows exactly the roles of the vocabulary", () => {
    expect(contactProblem({ ...nobody, name: "x", roles: contactRoles })).toBeUndefined();
    for (const role of ["Billing", "owner", ""]) {
      expect(contactProblem({ ...nobody, name: "x", roles: [role] })).toBe("invalid-role");
    }
  });

  it("keeps each role once, in the order given", () => {
    expect(distinctRoles(["site", "billing", "site"])).toEqual(["site", "billing"]);
  });
});
