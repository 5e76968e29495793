/** What a caller may reach. Made once a request by `access/`; `known` grows as access is checked. */
export type Scope =
  | { readonly kind: "system" }
  | { readonly kind: "none" }
  | {
      readonly kind: "partner";
      readonly partnerId: string;
      /** Organizations of this membership only; `null` = all, `none` = no organization. */
      readonly selected: string | "none" | null;
      /** Null = a machine. */
      readonly userId: string | null;
      /** Set where a service principal calls: active and trial organizations only, or those chosen for it. */
      readonly principal?: { readonly id: string; readonly selected: boolean };
      /** Organizations whose access was checked in this request: rows may be inserted for these. */
      readonly known: Set<string>;
    }
  | {
      readonly kind: "organization";
      readonly orgId: string;
      /** Null = every site. */
      readonly siteIds: readonly string[] | null;
      readonly userId: string | null;
    };

/** Value of the setting that row-level security on Postgres reads for this scope. */
export function wallOf(scope: Scope): string {
  if (scope.kind === "partner") return `partner:${scope.partnerId}`;
  if (scope.kind === "organization") return `org:${scope.orgId}`;
  return scope.kind;
}

/**
 * The same scope with parameters in place of its ids, the values of the parameters, and a key that is equal for all
 * scopes that compile to the same text.
 */
export function markedScope(scope: Scope, mark: (name: string) => string): MarkedScope {
  if (scope.kind === "partner") {
    const { selected, principal, userId } = scope;
    const chosen = selected === null || selected === "none" ? selected : mark("scope.selected");
    return {
      key: `partner ${chosen} ${principal?.selected} ${userId === null}`,
      scope: {
        ...scope,
        partnerId: mark("scope.partnerId"),
        selected: chosen,
        userId: userId === null ? null : mark("scope.userId"),
        ...(principal ? { principal: { ...principal, id: mark("scope.principalId") } } : {}),
      },
      values: {
        "scope.partnerId": scope.partnerId,
        "scope.selected": selected,
        "scope.userId": userId,
        "scope.principalId": principal?.id,
      },
    };
  }
  if (scope.kind !== "organization") return { key: scope.kind, scope, values: {} };
  const sites = scope.siteIds ?? [];
  return {
    key: `organization ${scope.siteIds?.length} ${scope.userId === null}`,
    scope: {
      kind: "organization",
      orgId: mark("scope.orgId"),
      siteIds: scope.siteIds && sites.map((_, index) => mark(`scope.site${index}`)),
      userId: scope.userId === null ? null : mark("scope.userId"),
    },
    values: {
      "scope.orgId": scope.orgId,
      "scope.userId": scope.userId,
      ...Object.fromEntries(sites.map((id, index) => [`scope.site${index}`, id])),
    },
  };
}

export interface MarkedScope {
  readonly key: string;
  readonly scope: Scope;
  readonly values: Readonly<Record<string, unknown>>;
}
