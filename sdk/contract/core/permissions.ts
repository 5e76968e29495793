/**
 * The permission catalogue: every `resource:action` that a role may hold
 * (docs/conventions.md, "Permissions and roles").
 */
const catalogue = {
  devices: ["read", "write", "delete", "execute"],
  scripts: ["read", "write", "delete", "execute"],
  alerts: ["read", "write", "acknowledge"],
  automations: ["read", "write", "delete"],
  reports: ["read", "write", "delete", "export"],
  users: ["read", "write", "delete", "invite"],
  organizations: ["read", "write"],
  sites: ["read", "write"],
  topology: ["read"],
  remote: ["access"],
  audit: ["read", "export"],
  vulnerabilities: ["accept_risk"],
  pam: ["approve", "manage_policy"],
  tickets: ["read", "write", "manage"],
  catalog: ["read", "write", "delete"],
  quotes: ["read", "write", "send"],
  invoices: ["read", "write", "send"],
  contracts: ["read", "write", "manage"],
  billing: ["manage"],
} as const;

type Catalogue = typeof catalogue;
export type Permission = { [R in keyof Catalogue]: `${R}:${Catalogue[R][number]}` }[keyof Catalogue];

/** A role's grant: a catalogue entry, or a wildcard half that only built-in roles hold. */
export type Grant = Permission | "*:*";

export const permissions: readonly Permission[] = Object.entries(catalogue).flatMap(([resource, actions]) =>
  actions.map((action) => `${resource}:${action}` as Permission),
);

/** A grant matches when each half is equal or `*` (docs/conventions.md, "Permissions and roles"). */
export function grants(held: readonly string[], wanted: Permission): boolean {
  const [resource, action] = wanted.split(":");
  return held.some((grant) => {
    const [r, a] = grant.split(":");
    return (r === "*" || r === resource) && (a === "*" || a === action);
  });
}

export interface BuiltInRole {
  readonly name: string;
  readonly scope: "system" | "partner" | "organization";
  readonly grants: readonly Grant[];
}

const all = (...resources: (keyof Catalogue)[]): Permission[] =>
  resources.flatMap((resource) => catalogue[resource].map((action) => `${resource}:${action}` as Permission));

/**
 * Written at every start and immutable (docs/conventions.md, "Permissions and roles"). Their ids are fixed: see
 * `server/access/roles.ts`.
 */
export const builtInRoles: readonly BuiltInRole[] = [
  { name: "System Admin", scope: "system", grants: ["*:*"] },
  { name: "Partner Admin", scope: "partner", grants: ["*:*"] },
  {
    name: "Partner Technician",
    scope: "partner",
    grants: [
      "devices:read",
      "devices:write",
      "devices:execute",
      "scripts:read",
      "scripts:write",
      "scripts:execute",
      ...all("alerts"),
      "automations:read",
      "reports:read",
      "reports:write",
      "users:read",
      "organizations:read",
      ...all("sites", "topology", "remote"),
      "audit:read",
      "tickets:read",
      "tickets:write",
      "contracts:read",
    ],
  },
  {
    name: "Partner Viewer",
    scope: "partner",
    grants: [
      "devices:read",
      "scripts:read",
      "alerts:read",
      "automations:read",
      "reports:read",
      "organizations:read",
      "sites:read",
      "topology:read",
      "tickets:read",
    ],
  },
  {
    name: "Partner Billing",
    scope: "partner",
    grants: [
      "devices:read",
      "reports:read",
      "reports:export",
      "organizations:read",
      ...all("catalog", "quotes", "invoices", "contracts", "billing"),
    ],
  },
  {
    name: "Partner Billing Viewer",
    scope: "partner",
    grants: ["organizations:read", "catalog:read", "quotes:read", "invoices:read", "contracts:read"],
  },
  {
    name: "Partner Security Approver",
    scope: "partner",
    grants: ["devices:read", "alerts:read", "organizations:read", "vulnerabilities:accept_risk", "pam:approve"],
  },
  {
    name: "Org Admin",
    scope: "organization",
    grants: all(
      "devices",
      "scripts",
      "alerts",
      "automations",
      "reports",
      "users",
      "organizations",
      "sites",
      "topology",
      "remote",
      "audit",
      "vulnerabilities",
      "pam",
      "tickets",
    ),
  },
  {
    name: "Org Technician",
    scope: "organization",
    grants: [
      "devices:read",
      "devices:write",
      "devices:execute",
      "scripts:read",
      "scripts:execute",
      "alerts:read",
      "alerts:acknowledge",
      "automations:read",
      "reports:read",
      "reports:write",
      "organizations:read",
      "sites:read",
      ...all("topology", "remote"),
      "tickets:read",
      "tickets:write",
    ],
  },
  {
    name: "Org Viewer",
    scope: "organization",
    grants: [
      "devices:read",
      "scripts:read",
      "alerts:read",
      "automations:read",
      "reports:read",
      "organizations:read",
      "sites:read",
      "topology:read",
      "tickets:read",
    ],
  },
  {
    name: "Security Approver",
    scope: "organization",
    grants: ["devices:read", "alerts:read", "vulnerabilities:accept_risk", "pam:approve"],
  },
];
