/**
 * Why code may work outside the tenant scope. The list may only shrink: a new reason needs a line
 * here that says why the scoped handle cannot do it.
 */
export const systemReasons = {
  authenticate: "the caller's tenant is what is being found out",
  "sign-in": "sessions, tokens and lockouts belong to a person, not to a tenant",
  "accept invitation": "the invited person has no tenant yet",
  "invite user": "an address may already be a user of another tenant",
  "change own profile": "a person's row belongs to every tenant they work for: no tenant's connection may write it",
  "resolve user names": "an entry may name a user who has left the tenant",
  "enroll device": "the enrollment key says which tenant the device joins",
  "agent check-in": "tokens and metrics are found by the device's credential",
  "partner administration": "a partner has no owner above it but the system",
  "count against caps": "a caller confined to some organizations must still meet the partner's cap and unique slugs",
  "answer for another site": "a row of another site is answered 403, one that does not exist 404",
  "revoke access": "sessions of a suspended or deleted tenant's users",
  "read audit chain": "chain, anchors and prune records are not tenant rows; the endpoint checks the chain's owner",
  "measure a role": "what a role grants belongs to no tenant; only the difference to the caller's own is told",
  "unlink identities": "identities belong to people; those of a provider end with the issuer that vouched for them",
  bootstrap: "the first administrator is made before anybody can sign in",
  "rate limit": "counters are keyed by credential or address",
  idempotency: "records are keyed by caller",
  "queue work": "jobs and mails outlive the request",
} as const;

export type SystemReason = keyof typeof systemReasons;
