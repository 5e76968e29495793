/** The closed lists of the product: permissions, roles, error codes, audit actions and event kinds. */
export interface Catalogues {
  readonly permissions: readonly string[];
  /** Built-in role → its grants. */
  readonly roles: Readonly<Record<string, readonly string[]>>;
  /** Message null: it has no fixed text. */
  readonly errors: Readonly<Record<string, { readonly status: number; readonly message: string | null }>>;
  readonly auditActions: readonly string[];
  readonly eventKinds: readonly string[];
}

/**
 * Every difference between the lists of the contract and those of the specification, one line each. Permissions and
 * roles are the same; codes, actions and event kinds may still be missing, as their endpoints are.
 */
export function catalogueDifferences(declared: Catalogues, specified: Catalogues): string[] {
  return [
    ...exactly("permissions", declared.permissions, specified.permissions),
    ...exactly("roles", Object.keys(declared.roles), Object.keys(specified.roles)),
    ...Object.entries(specified.roles).flatMap(([role, grants]) => exactly(role, declared.roles[role] ?? [], grants)),
    ...Object.entries(declared.errors).flatMap(([code, has]) => errorDifferences(code, has, specified.errors[code])),
    ...extra("audit actions", declared.auditActions, specified.auditActions),
    ...extra("event kinds", declared.eventKinds, specified.eventKinds),
  ];
}

function exactly(name: string, has: readonly string[], says: readonly string[]): string[] {
  return [...extra(name, has, says), ...says.filter((one) => !has.includes(one)).map((one) => `${name}: lacks ${one}`)];
}

function extra(name: string, has: readonly string[], says: readonly string[]): string[] {
  return has.filter((one) => !says.includes(one)).map((one) => `${name}: has ${one}`);
}

type Answer = Catalogues["errors"][string];

function errorDifferences(code: string, has: Answer, says: Answer | undefined): string[] {
  if (!says) return [`errors: has ${code}`];
  const status = has.status === says.status ? [] : [`${code} status: declared ${has.status}, specified ${says.status}`];
  if (says.message === null || has.message === says.message) return status;
  return [...status, `${code} message: declared "${has.message}", specified "${says.message}"`];
}
