import { contactRoles } from "#contract/resources/tenancy/contacts";

interface Identifiers {
  name: string | null;
  email: string | null;
  phone: string | null;
  mobile: string | null;
}

/** Checks the row as it will be stored (docs/tenancy.md, "Contacts"); `undefined` if it is valid. */
export function contactProblem(row: Identifiers & { roles: readonly string[] }) {
  if ([row.name, row.email, row.phone, row.mobile].every((value) => value === null)) return "no-identifier" as const;
  if (row.roles.some((role) => !isContactRole(role))) return "invalid-role" as const;
  return undefined;
}

export type ContactRole = (typeof contactRoles)[number];

const isContactRole = (role: string): role is ContactRole => (contactRoles as readonly string[]).includes(role);

/** Once each, in the order given. */
export const distinctRoles = (roles: readonly string[]): string[] => [...new Set(roles)];
