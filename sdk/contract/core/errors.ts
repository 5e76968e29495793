/**
 * Every error code of the API with its HTTP status and public message (docs/conventions.md, "Errors"). Closed list: an
 * endpoint may only answer with the codes it names and the generic ones below.
 */
export const errorTable = {
  // 400
  VALIDATION_ERROR: [400, "Invalid request"],
  INVALID_JSON: [400, "Malformed JSON body"],
  NO_UPDATES: [400, "No updates"],
  ORG_ID_REQUIRED: [400, "orgId is required for partner scope"],
  PARTNER_ID_REQUIRED: [400, "partnerId is required for system scope"],
  PARTNER_CONTEXT_REQUIRED: [400, "partner context required"],
  PARTNER_SCOPE_REQUIRED: [400, "Partner scope required"],
  FIELD_IMMUTABLE: [400, "Field immutable"],
  INVALID_STATUS: [400, "Invalid status"],
  PSA_CONNECTION_REQUIRED: [400, "PSA connection required"],
  PSA_CONNECTION_NOT_ALLOWED: [400, "PSA connection not allowed"],
  USE_SCRIPT_ENDPOINT: [400, "Use script endpoint"],
  COMMAND_TYPE_NOT_ALLOWED: [400, "Command type not allowed"],
  UNSUPPORTED_OS: [400, "Not supported on this operating system"],
  SAME_ORG: [400, "Device is already in this organization"],
  SITE_NOT_IN_ORG: [400, "Site is not in this organization"],
  "site-not-in-org": [400, "Site is not in this organization"],
  TARGET_NOT_IN_SCOPE: [400, "Target not in scope"],
  DEVICE_NOT_IN_ORG: [400, "Device not in organization"],
  INVALID_PARENT: [400, "Invalid parent"],
  GROUP_NOT_IN_ORG: [400, "Group not in organization"],
  FILTER_REQUIRED: [400, "A dynamic group needs a filter"],
  FILTER_NOT_ALLOWED: [400, "A static group takes no filter"],
  NOT_DYNAMIC: [400, "Group is not dynamic"],
  NOT_PINNED: [400, "Device is not pinned"],
  DYNAMIC_GROUP: [400, "Membership of a dynamic group is computed"],
  FILTER_INVALID_STRUCTURE: [400, "Invalid filter"],
  FILTER_UNKNOWN_FIELD: [400, "Invalid filter"],
  FILTER_OPERATOR_NOT_ALLOWED: [400, "Invalid filter"],
  FILTER_VALUE_REQUIRED: [400, "Invalid filter"],
  FILTER_TYPE_MISMATCH: [400, "Invalid filter"],
  FILTER_INVALID_REGEX: [400, "Invalid filter"],
  FILTER_TOO_DEEP: [400, "Invalid filter"],
  FILTER_TOO_LARGE: [400, "Invalid filter"],
  CUSTOM_FIELD_UNKNOWN: [400, "Custom field unknown"],
  CUSTOM_FIELD_INVALID: [400, "Custom field invalid"],
  ORG_NOT_IN_PARTNER: [400, "Organization not in partner"],
  "no-identifier": [400, "A name, email, phone or mobile is required"],
  "invalid-role": [400, "Invalid role"],
  INVALID_CURSOR: [400, "Invalid cursor"],
  SINCE_TOO_OLD: [400, "updatedSince is older than 30 days"],
  DEVICE_DECOMMISSIONED: [400, "Device is decommissioned"],
  INVALID_ROLE: [400, "Role cannot be assigned here"],
  ORG_IDS_REQUIRED: [400, "Organization ids required"],
  ORG_IDS_NOT_ALLOWED: [400, "Organization ids not allowed"],
  NOT_INVITED: [400, "User has no open invitation"],
  WEAK_PASSWORD: [400, "Weak password"],
  PASSWORD_LOGIN_UNAVAILABLE: [400, "Password login unavailable"],
  MFA_ALREADY_ENABLED: [400, "MFA already enabled"],
  MFA_NOT_ENABLED: [400, "MFA not enabled"],
  NO_PENDING_MFA_SETUP: [400, "No pending MFA setup"],
  INVALID_TOKEN: [400, "Invalid or expired token"],
  INVALID_INVITE: [400, "Invalid or expired invitation"],
  INVALID_EXCHANGE_CODE: [400, "Invalid or expired token exchange code"],
  UNSAFE_URL: [400, "Unsafe URL"],
  UNKNOWN_EVENT: [400, "Unknown event"],
  WILDCARD_SCOPE: [400, "Wildcard API key scopes are not supported"],
  UNSUPPORTED_SCOPE: [400, "Unsupported API key scope"],
  API_KEY_NOT_ACTIVE: [400, "Cannot update revoked API key"],
  SERVICE_PRINCIPAL_KEY: [400, "Service principal key"],
  KEY_IN_OTHER_ORG: [400, "Key in other organization"],
  TTL_EXCEEDS_CAP: [400, "TTL exceeds cap"],
  UNKNOWN_PRESET: [400, "Unknown preset"],
  INVALID_DEFAULT_ROLE: [400, "Invalid default role"],
  OIDC_DISCOVERY_FAILED: [400, "OIDC discovery failed"],
  OIDC_ISSUER_REQUIRED: [400, "OIDC issuer required"],
  PROVIDER_INCOMPLETE: [400, "Provider incomplete"],
  PROVIDER_INVALID: [400, "Provider cannot be used for login"],
  FLOOR_CANNOT_BE_LOWERED: [400, "Floor cannot be lowered"],
  PAM_RULE_INVALID_SHAPE: [400, "PAM rule invalid shape"],
  pam_rule_risk_tier_unreachable: [400, "Risk tier is unreachable"],
  NOT_SUSPENDED: [400, "Rule is not suspended pending re-approval"],
  SIGNER_GROUP_NOT_IN_ORG: [400, "Signer group not in organization"],
  // 401
  UNAUTHENTICATED: [401, "Authentication required"],
  INVALID_CREDENTIALS: [401, "Invalid email or password"],
  INVALID_PASSWORD: [401, "Invalid password"],
  MFA_SESSION_EXPIRED: [401, "MFA session expired"],
  INVALID_MFA_CODE: [401, "Invalid MFA code"],
  INVALID_REFRESH_TOKEN: [401, "Invalid refresh token"],
  REFRESH_RACED: [401, "Token was just refreshed"],
  INVALID_AGENT_CREDENTIALS: [401, "Invalid agent credentials"],
  ENROLLMENT_KEY_NOT_FOUND: [401, "Enrollment key is not valid"],
  ENROLLMENT_KEY_EXPIRED: [401, "Enrollment key is not valid"],
  ENROLLMENT_KEY_EXHAUSTED: [401, "Enrollment key is not valid"],
  API_KEY_MISSING: [401, "Missing X-API-Key header"],
  API_KEY_INVALID_FORMAT: [401, "Invalid API key format"],
  API_KEY_INVALID: [401, "Invalid API key"],
  API_KEY_REVOKED: [401, "API key is revoked"],
  API_KEY_EXPIRED: [401, "API key is expired"],
  API_KEY_OWNER_INACTIVE: [401, "API key owner is not active"],
  reauth_required: [401, "Re-authentication required"],
  ASSERTION_FAILED: [401, "Assertion could not be verified"],
  // 403
  FORBIDDEN: [403, "Not allowed"],
  PERMISSION_DENIED: [403, "Permission denied"],
  MFA_REQUIRED: [403, "MFA required"],
  ORG_ACCESS_DENIED: [403, "Access to this organization denied"],
  SITE_ACCESS_DENIED: [403, "Access to this site denied"],
  PARTNER_ACCESS_DENIED: [403, "Access to this partner denied"],
  PARTNER_INACTIVE: [403, "Account inactive"],
  FULL_PARTNER_ACCESS_REQUIRED: [403, "Full partner access required"],
  ORG_CONTEXT_REQUIRED: [403, "Organization context required"],
  ORG_SUSPENDED: [403, "Organization suspended"],
  DEVICE_LIMIT_REACHED: [403, "Device limit reached"],
  CROSS_PARTNER_MOVE: [403, "Devices cannot move between partners"],
  MFA_REQUIRED_BY_POLICY: [403, "MFA required by policy"],
  HOME_SESSION_REQUIRED: [403, "Sign in to your own account first"],
  SSO_REQUIRED: [403, "SSO required"],
  ROLE_EXCEEDS_CALLER: [403, "Role exceeds your permissions"],
  ENROLLMENT_SECRET_REQUIRED: [403, "Enrollment secret required"],
  ENROLLMENT_SECRET_INVALID: [403, "Enrollment secret invalid"],
  TENANT_INACTIVE: [403, "Tenant inactive"],
  TENANT_OFFBOARDING: [403, "Tenant offboarding"],
  DEVICE_QUARANTINED: [403, "Device quarantined"],
  API_KEY_SCOPE_REQUIRED: [403, "API key does not have required permissions"],
  SCOPE_DELEGATION_DENIED: [403, "You do not hold a requested scope"],
  STEP_UP_REQUIRED: [403, "Step up required"],
  SELF_APPROVAL: [403, "You cannot approve your own request"],
  ACTUATOR_DISABLED: [403, "Actuator disabled"],
  partner_provisioning_principal_restrictions_required: [403, "Principal needs an expiry and a source allowlist"],
  // 404
  NOT_FOUND: [404, "Not found"],
  NO_ACTIVE_SSO_PROVIDER: [404, "No active SSO provider for this organization"],
  // 405 (chosen: the path exists, the method does not)
  METHOD_NOT_ALLOWED: [405, "Method not allowed"],
  // 409
  INVALID_STATE: [409, "Not possible in the current state"],
  INVALID_TRANSITION: [409, "Status change not allowed"],
  ORG_READ_ONLY: [409, "Organization read only"],
  ALREADY_PENDING: [409, "Already pending"],
  EXECUTION_TIMED_OUT: [409, "Tool execution timed out"],
  wrong_status: [409, "Elevation is not approved"],
  race_lost: [409, "Elevation was already claimed"],
  ALREADY_DECOMMISSIONED: [409, "Device is already decommissioned"],
  HOSTNAME_TAKEN: [409, "Hostname taken"],
  SLUG_TAKEN: [409, "Slug taken"],
  NAME_TAKEN: [409, "Name taken"],
  HAS_CHILDREN: [409, "Has children"],
  DUPLICATE: [409, "Entry exists already"],
  USER_EXISTS: [409, "User is already a member"],
  LAST_ADMIN: [409, "Last administrator"],
  IN_USE: [409, "In use"],
  SITE_NOT_EMPTY: [409, "Site not empty"],
  ORG_LIMIT_REACHED: [409, "Organization limit reached"],
  IDEMPOTENCY_KEY_REUSED: [409, "Idempotency key used with another body"],
  IDEMPOTENCY_IN_FLIGHT: [409, "Request with this key is running"],
  CONCURRENT_MODIFICATION: [409, "Changed by someone else"],
  // 410
  INVITE_ALREADY_ACCEPTED: [410, "Invite already accepted"],
  // 412
  NO_MAC: [412, "No hardware address known"],
  NO_RELAY: [412, "No relay device online"],
  // 413
  PAYLOAD_TOO_LARGE: [413, "Body too large"],
  // 422
  FILTER_TIMEOUT: [422, "Filter timeout"],
  LIMIT_REACHED: [422, "Limit reached"],
  // 428
  MFA_ENROLLMENT_REQUIRED: [428, "MFA enrollment required"],
  // 429
  RATE_LIMITED: [429, "Rate limit exceeded"],
  // 500
  INTERNAL_ERROR: [500, "Internal error"],
  // 502
  AGENT_ERROR: [502, "The agent reported an error"],
  AGENT_BAD_RESPONSE: [502, "Agent bad response"],
  // 503
  SERVICE_UNAVAILABLE: [503, "Try again later"],
  NOT_CONFIGURED: [503, "Not configured"],
  DEVICE_OFFLINE: [503, "Device offline"],
  GROUP_EVALUATION_FAILED: [503, "Group evaluation failed"],
  // 504
  AGENT_TIMEOUT: [504, "Agent timeout"],
} as const satisfies Record<string, readonly [status: number, message: string]>;

export type ErrorCode = keyof typeof errorTable;

export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errorTable, code);

export const statusOf = (code: ErrorCode): number => errorTable[code][0];
/** Status of a code: `DEVICE_DECOMMISSIONED` is 400 to users and 403 to agents (docs/conventions.md, "Errors"). */
export const statusFor = (code: ErrorCode, toAgent: boolean): number =>
  toAgent && code === "DEVICE_DECOMMISSIONED" ? 403 : statusOf(code);
export const messageOf = (code: ErrorCode): string => errorTable[code][1];

/** Codes the pipeline itself may answer on any endpoint that takes part in the step named. */
export const genericErrors = {
  always: ["INTERNAL_ERROR", "RATE_LIMITED", "SERVICE_UNAVAILABLE", "VALIDATION_ERROR"],
  authenticated: ["PARTNER_INACTIVE", "FORBIDDEN"],
  user: ["UNAUTHENTICATED", "MFA_ENROLLMENT_REQUIRED"],
  apiKey: [
    "API_KEY_MISSING",
    "API_KEY_INVALID_FORMAT",
    "API_KEY_INVALID",
    "API_KEY_REVOKED",
    "API_KEY_EXPIRED",
    "API_KEY_OWNER_INACTIVE",
    "API_KEY_SCOPE_REQUIRED",
  ],
  partnerKey: ["API_KEY_MISSING", "API_KEY_INVALID", "API_KEY_SCOPE_REQUIRED"],
  body: ["INVALID_JSON", "PAYLOAD_TOO_LARGE"],
  change: ["NO_UPDATES"],
  permission: ["PERMISSION_DENIED"],
  fullPartner: ["FULL_PARTNER_ACCESS_REQUIRED"],
  ownPartner: ["PARTNER_CONTEXT_REQUIRED"],
  mfa: ["MFA_REQUIRED"],
  idempotent: ["IDEMPOTENCY_KEY_REUSED", "IDEMPOTENCY_IN_FLIGHT"],
  tenancy: ["NOT_FOUND", "ORG_ACCESS_DENIED", "SITE_ACCESS_DENIED", "ORG_READ_ONLY"],
} as const satisfies Record<string, readonly ErrorCode[]>;

/** The body of every error (docs/conventions.md, "Errors"). */
export interface ErrorBody {
  error: string;
  code: ErrorCode;
  details?: unknown;
}
