import type { AnyEndpoint } from "./endpoint.ts";
import { type ErrorCode, genericErrors } from "./errors.ts";

/** Every code an endpoint may answer: those it names and those of the pipeline steps it goes through. */
export function possibleErrors(endpoint: AnyEndpoint): ErrorCode[] {
  const { access } = endpoint;
  const { body } = endpoint.schemas();
  const isPublic = access.kinds.includes("public");
  return [
    ...new Set<ErrorCode>([
      ...endpoint.errors,
      ...genericErrors.always,
      ...(isPublic ? [] : [...genericErrors.authenticated, ...genericErrors.tenancy]),
      ...(["user", "agent"].some((kind) => access.kinds.includes(kind as "user")) ? genericErrors.user : []),
      ...(access.kinds.includes("apiKey") ? genericErrors.apiKey : []),
      ...(access.kinds.includes("partnerKey") ? genericErrors.partnerKey : []),
      ...(body === undefined ? [] : genericErrors.body),
      ...(body !== undefined && ["PATCH", "PUT"].includes(endpoint.method) ? genericErrors.change : []),
      ...(access.permissions.length > 0 ? genericErrors.permission : []),
      ...(access.fullPartner ? genericErrors.fullPartner : []),
      ...(access.ownPartner ? genericErrors.ownPartner : []),
      ...(access.mfa ? genericErrors.mfa : []),
      ...(endpoint.idempotent ? genericErrors.idempotent : []),
    ]),
  ];
}
