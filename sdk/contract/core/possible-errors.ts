import type { AnyEndpoint } from "./endpoint.ts";
import { type ErrorCode, genericErrors } from "./errors.ts";

/** The steps of the pipeline that an endpoint goes through, as far as they refuse. */
export function errorGroups(endpoint: AnyEndpoint): (keyof typeof genericErrors)[] {
  const { access, method } = endpoint;
  const hasBody = endpoint.schemas().body !== undefined;
  const takes = (kind: (typeof access.kinds)[number]) => access.kinds.includes(kind);
  const goesThrough: Record<keyof typeof genericErrors, boolean> = {
    always: true,
    authenticated: !takes("public"),
    tenancy: !takes("public"),
    user: takes("user") || takes("agent"),
    apiKey: takes("apiKey"),
    partnerKey: takes("partnerKey"),
    body: hasBody,
    change: hasBody && !endpoint.bodyOptional && ["PATCH", "PUT"].includes(method),
    permission: access.permissions.length > 0,
    fullPartner: access.fullPartner,
    ownPartner: access.ownPartner,
    mfa: access.mfa,
    idempotent: endpoint.idempotent,
  };
  return (Object.keys(goesThrough) as (keyof typeof genericErrors)[]).filter((group) => goesThrough[group]);
}

/** Every code an endpoint may answer: those it names and those of the pipeline steps it goes through. */
export const possibleErrors = (endpoint: AnyEndpoint): ErrorCode[] => [
  ...new Set<ErrorCode>([...endpoint.errors, ...errorGroups(endpoint).flatMap((group) => genericErrors[group])]),
];
