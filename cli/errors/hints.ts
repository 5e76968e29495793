import { ConnectionError, NotRmmServerError, OutcomeUnknownError, RateLimitError, type RmmError } from "#sdk/errors";
import { momentText } from "../output/moment.ts";

/** Why a code that looks right is refused. */
export const codeHint =
  "each code works once, so wait for the next one if this was used already; and the clock of the phone must be right";

const factorFirst = "Set up a second factor first with `rmm auth mfa setup`";

const byCode: Record<string, string> = {
  // Who asks, and with what.
  INVALID_MFA_CODE: `Check the code: ${codeHint}`,
  UNAUTHENTICATED:
    "The token has expired, or is not of this server: sign in with `rmm auth login`, or set another RMM_TOKEN or RMM_API_KEY",
  NOT_SIGNED_IN: "Sign in with `rmm auth login`, or set RMM_TOKEN or RMM_API_KEY",
  INVALID_REFRESH_TOKEN: "The session has ended. Sign in again with `rmm auth login`",
  REFRESH_RACED: "Another run has just renewed the session: repeat this command",
  API_KEY_MISSING: "Set RMM_API_KEY, or give --token-file",
  API_KEY_INVALID_FORMAT: "A key begins with svc_: is the whole of it there?",
  API_KEY_INVALID:
    "The key is unknown to this server, or may not come from this address: see the principal's sourceCidrs",
  API_KEY_REVOKED: "The key was revoked; create another with `rmm api-keys create`",
  API_KEY_EXPIRED: "The key has expired; create another with `rmm api-keys create`",
  API_KEY_OWNER_INACTIVE: "Who made the key is no longer active: create another with `rmm api-keys create`",
  API_KEY_SCOPE_REQUIRED: "`rmm auth can-i --list` says what this key may do",
  WRONG_CREDENTIAL: "Sign in with `rmm auth login`, or give another credential with --token-file",
  INVALID_CREDENTIALS:
    "If your company signs in through an identity provider: `rmm auth login --sso --email <address>`",
  SSO_REQUIRED: "This account signs in through its identity provider: `rmm auth login --sso --email <address>`",
  PASSWORD_LOGIN_UNAVAILABLE:
    "This account signs in through its identity provider: `rmm auth login --sso --email <address>`",
  NO_ACTIVE_SSO_PROVIDER: "Sign in with a password: `rmm auth login --email <address>`",
  INVALID_EXCHANGE_CODE: "A sign-in must be finished within two minutes: start again with `rmm auth login --sso`",
  INVALID_PASSWORD: "It takes your present password; without a terminal give --current-password-file",
  WEAK_PASSWORD: "Choose another password",
  INVALID_TOKEN:
    "A link, and a registration, works once and for a limited time: begin again; a link of a password with `rmm passwords forgot`",
  INVALID_INVITE: "Whoever invited you can send a new link: `rmm users resend-invite --user <email>`",
  INVITE_ALREADY_ACCEPTED: "Sign in with `rmm auth login`",
  reauth_required: "Sign in again with `rmm auth login`: the session must have begun a few minutes ago",
  MFA_SESSION_EXPIRED: "Sign in again with `rmm auth login`",
  MFA_REQUIRED: "Prove your second factor with `rmm auth mfa step-up`, or set one up with `rmm auth mfa setup`",
  STEP_UP_REQUIRED: "The approval takes a proof by an approver device of yours: `rmm approver-devices list` shows them",
  MFA_ENROLLMENT_REQUIRED: "Set up a second factor with `rmm auth mfa setup`",
  MFA_NOT_ENABLED: factorFirst,
  MFA_ALREADY_ENABLED: "To set up another, turn this one off first with `rmm auth mfa disable`",
  MFA_REQUIRED_BY_POLICY: "The policy of the partner or organization wants a second factor: it stays on",
  NO_PENDING_MFA_SETUP: "A set-up lasts ten minutes: begin again with `rmm auth mfa setup`",
  HOME_SESSION_REQUIRED: "Sign in to your own account with `rmm auth login`: this session is in another tenant",
  // What the caller may do, and where.
  PERMISSION_DENIED: "`rmm auth can-i --list` says what you may do",
  FORBIDDEN: "`rmm auth can-i --list` says what you may do",
  FULL_PARTNER_ACCESS_REQUIRED: "Only a member with access to all organizations of the partner may do this",
  ORG_ACCESS_DENIED: "`rmm organizations list-accessible` shows the organizations that are open to you",
  SITE_ACCESS_DENIED: "`rmm sites list` shows the sites that are open to you",
  PARTNER_ACCESS_DENIED: "`rmm auth memberships` shows where you belong",
  PARTNER_INACTIVE: "The partner was suspended or closed: the operator of the server can tell why",
  PARTNER_CONTEXT_REQUIRED: "It takes a member of a partner: `rmm auth memberships` shows where you belong",
  PARTNER_SCOPE_REQUIRED: "It takes a member of a partner: `rmm auth memberships` shows where you belong",
  ORG_ID_REQUIRED: "Name the organization: --org contoso-dental; `rmm organizations list` shows them",
  ORG_CONTEXT_REQUIRED: "Name the organization: --org contoso-dental; `rmm organizations list` shows them",
  PARTNER_ID_REQUIRED: "Name the partner: --partner summit; `rmm partners list` shows them",
  ORG_NOT_IN_PARTNER: "`rmm organizations list` shows the organizations of the partner",
  ROLE_EXCEEDS_CALLER: "You can give the permissions that you hold: `rmm auth can-i --list` shows them",
  SCOPE_DELEGATION_DENIED: "A key gets scopes that you hold: `rmm auth can-i --list` shows them",
  partner_provisioning_principal_restrictions_required:
    "A person gives the principal --expires-at and --source-cidrs: `rmm partner-service-principals update <name>`",
  // What was given.
  VALIDATION_ERROR: "`rmm <command> --help` says what each flag takes",
  NOT_FOUND: "Is the id right, and the thing in this tenant? A list shows ids with --wide",
  METHOD_NOT_ALLOWED: "Another method is meant: the server's /docs has those of each path",
  INVALID_JSON: "The body must be JSON in UTF-8",
  PAYLOAD_TOO_LARGE: "Send less at once, in several runs",
  NO_UPDATES: "Name at least one field to change: `rmm <command> --help` has them",
  FIELD_IMMUTABLE: "That field never changes: leave it out",
  INVALID_CURSOR: "Begin again without --cursor",
  SINCE_TOO_OLD: "Give a time within the last 30 days, or none for everything",
  INVALID_STATUS: "The server alone sets this status: `rmm organizations update --help` has the others",
  INVALID_TRANSITION: "Choose one of those that are allowed",
  PSA_CONNECTION_REQUIRED: "Give --service-management-psa-connection-id, or another --service-management-mode",
  PSA_CONNECTION_NOT_ALLOWED: "Leave out --service-management-psa-connection-id, or choose the mode that takes it",
  TARGET_NOT_IN_SCOPE:
    "A policy covers what lies in its owner: `rmm configuration-policies get <policy>` shows whose it is",
  PAM_RULE_INVALID_SHAPE: "`rmm pam rules create --help` has the criteria; one at least says what is matched",
  pam_rule_risk_tier_unreachable: "Choose one of the tiers that are named, or leave out --match-risk-tier",
  SIGNER_GROUP_NOT_IN_ORG: "`rmm pam signer-groups list --org <org>` shows the groups of an organization",
  SITE_NOT_IN_ORG: "`rmm sites list --org <org>` shows the sites of an organization",
  "site-not-in-org": "`rmm sites list --org <org>` shows the sites of an organization",
  "no-identifier": "Give --name, --email, --phone or --mobile",
  "invalid-role": "`rmm contacts create --help` has the roles of a contact",
  INVALID_ROLE: "`rmm users roles` shows the roles that you can give",
  INVALID_DEFAULT_ROLE: "`rmm roles list` shows the roles",
  ORG_IDS_REQUIRED: "--org-access selected takes --org-ids",
  ORG_IDS_NOT_ALLOWED: "--org-ids goes with --org-access selected alone",
  NOT_INVITED: "`rmm users list` shows who has accepted already",
  WILDCARD_SCOPE: "Name each scope: `rmm api-keys create --help`",
  UNSUPPORTED_SCOPE: "`rmm api-keys create --help` has the scopes of a key",
  UNKNOWN_EVENT: "`rmm webhooks create --help` lists the kinds",
  UNKNOWN_PRESET: "`rmm sso-providers presets` lists those that there are",
  UNSAFE_URL: "It must lead to https on the public internet",
  OIDC_DISCOVERY_FAILED: "Is the issuer right, and can the server reach it?",
  OIDC_ISSUER_REQUIRED: "Give --issuer",
  PROVIDER_INCOMPLETE: "Give what is missing with `rmm sso-providers update <provider>`",
  PROVIDER_INVALID: "`rmm sso-providers test <provider>` says what is wrong with it",
  TTL_EXCEEDS_CAP: "Give an earlier --expires-at",
  API_KEY_NOT_ACTIVE: "A key that was revoked stays so: create another with `rmm api-keys create`",
  SERVICE_PRINCIPAL_KEY: "Its principal rotates it: `rmm service-principals rotate <principal>`",
  KEY_IN_OTHER_ORG: "Principal and key must be of one organization",
  ENROLLMENT_KEY_NOT_FOUND:
    "`rmm enrollment-keys list` shows the keys; a new one comes from `rmm enrollment-keys create`",
  ENROLLMENT_KEY_EXPIRED: "A key that works comes from `rmm enrollment-keys rotate <key>`",
  ENROLLMENT_KEY_EXHAUSTED: "A key for more devices: `rmm enrollment-keys create --max-usage 25`",
  ENROLLMENT_SECRET_REQUIRED: "The server wants a second secret: --secret-file",
  ENROLLMENT_SECRET_INVALID: "The second secret is not that of the server",
  CUSTOM_FIELD_UNKNOWN: "`rmm custom-fields list` shows the fields",
  CUSTOM_FIELD_INVALID: "`rmm custom-fields list` shows what each field holds",
  USE_SCRIPT_ENDPOINT: "Scripts are run in another way: `rmm devices run --help` has the types of a command",
  COMMAND_TYPE_NOT_ALLOWED: "`rmm devices run --help` has the types that people may queue",
  FILTER_INVALID_STRUCTURE: "--where writes a filter for you: rmm filters explain shows what becomes of it",
  FILTER_UNKNOWN_FIELD: "rmm filters fields lists the fields",
  FILTER_OPERATOR_NOT_ALLOWED: "rmm filters fields lists the operators of each field",
  FILTER_VALUE_REQUIRED: "rmm filters fields lists the operators of each field; is null and is empty take no value",
  FILTER_TYPE_MISMATCH: "rmm filters fields lists the values of each field",
  FILTER_INVALID_REGEX: "Patterns have no lookaround and no references: contains and starts with do for most",
  FILTER_TOO_DEEP: "Write the groups side by side: and binds tighter than or",
  FILTER_TOO_LARGE: "Choose by a tag or a custom field, which devices can be given",
  DEVICE_NOT_IN_ORG: "Nothing was added: a group has devices of its own organization, and of its site if it has one",
  INVALID_PARENT: "A parent is of the same organization, of no other site, and not below the group itself",
  GROUP_NOT_IN_ORG: "`rmm device-groups list` shows the groups of an organization",
  FILTER_REQUIRED: "Say which devices: --where 'osType = windows and tags any [web]'",
  FILTER_NOT_ALLOWED:
    "People choose the devices of a static group: `rmm device-groups add-devices`. With --type dynamic --where chooses",
  NOT_DYNAMIC: "People choose the devices of a static group: `rmm device-groups devices` lists them",
  NOT_PINNED: "`rmm device-groups devices` shows which are pinned",
  GROUP_EVALUATION_FAILED:
    "`rmm device-groups get` says what is wrong with its conditions; no error there: its devices are still being written",
  DYNAMIC_GROUP: "Its conditions choose its devices: `rmm device-groups update` changes them",
  HAS_CHILDREN: "Move the groups under it first: `rmm device-groups update` with --parent-id or --clear parent-id",
  IN_USE: "Take it out of what is named there first",
  // What is there already, and in which state.
  SLUG_TAKEN: "Choose another --slug; a closed tenant keeps its own",
  NAME_TAKEN: "Choose another --name",
  HOSTNAME_TAKEN: "Choose another --hostname, or take the other device out of service: `rmm devices remove <device>`",
  DUPLICATE: "Choose another name; --if-not-exists leaves alone what is there",
  USER_EXISTS:
    "Who has not accepted yet gets a new link: `rmm users resend-invite --user <email>`; --if-not-exists leaves alone who is there",
  CONCURRENT_MODIFICATION: "Look at it again, then repeat the command",
  NOT_SUSPENDED: "`rmm pam rules list` shows which rules wait to be approved again",
  EXECUTION_TIMED_OUT: "Nothing ran: whoever called the tool can call it again",
  ASSERTION_FAILED: "A challenge counts once: ask for a new one and sign that",
  FLOOR_CANNOT_BE_LOWERED: "`rmm approver-devices policy` shows what holds; while it is enforced it is only raised",
  SELF_APPROVAL: "Ask a colleague who may approve: nobody decides for themselves",
  ACTUATOR_DISABLED: "The operator of the server sets PAM_ACTUATOR_ENABLED=true to let approvals reach devices",
  wrong_status: "`rmm pam get <id>` shows its status: only what was approved, within its window, is carried out",
  race_lost: "Somebody else had it carried out: `rmm pam get <id>` shows what came of it",
  INVALID_STATE: "Look at its status first, then choose what goes with that",
  ORG_READ_ONLY: "The organization is being closed, or was: `rmm organizations get <org>` shows its status",
  ORG_SUSPENDED: "`rmm organizations update <org> --status active` lets it go on",
  TENANT_INACTIVE: "`rmm organizations get <org>` shows its status",
  TENANT_OFFBOARDING: "`rmm organizations get <org>` shows its status",
  ORG_LIMIT_REACHED: "`rmm partners update <partner> --max-organizations 100` raises the limit",
  DEVICE_LIMIT_REACHED: "`rmm organizations update <org> --max-devices 100` raises the limit, or that of the partner",
  LIMIT_REACHED: "Remove one that is no longer needed first",
  LAST_ADMIN: "Make somebody else administrator first",
  SITE_NOT_EMPTY: "Move its devices first, with `rmm devices move`",
  SAME_ORG: "It is there already: nothing was changed",
  CROSS_PARTNER_MOVE: "Enroll the device again with a key of the other partner",
  DEVICE_DECOMMISSIONED: "The device was taken out of service: enroll it again, or choose another",
  ALREADY_DECOMMISSIONED: "It is out of service already: nothing was changed",
  DEVICE_QUARANTINED: "`rmm devices update <device> --no-quarantined` lets it go on",
  UNSUPPORTED_OS: "Choose a device with another operating system: `rmm devices list --os-type windows`",
  ALREADY_PENDING: "`rmm commands list <device> --status pending` shows what waits for it",
  NO_MAC: "The device must have reported its network once before it can be woken",
  NO_RELAY: "Another device of its site must be online to wake it",
  // What did not come about.
  DEVICE_OFFLINE: "`rmm devices list --status online` shows which are connected",
  AGENT_TIMEOUT: "The device may have done it: look before you repeat it",
  AGENT_ERROR: "The device refused: what it said is above",
  AGENT_BAD_RESPONSE: "The agent of the device answered what it may not: update it",
  FILTER_TIMEOUT: "Narrow it: a shorter time with --from and --to, of devices an --org, a tag or a status",
  IDEMPOTENCY_KEY_REUSED: "Use another --idempotency-key: this one was used for a different request",
  IDEMPOTENCY_IN_FLIGHT: "The first request with this key is still running; repeat this command in a moment",
  NOT_CONFIGURED: "The operator of the server has not set it up",
  RATE_LIMITED: "Try again in a minute",
  SERVICE_UNAVAILABLE: "Try again in a moment",
  INTERNAL_ERROR: "The server's log has the cause, under this request",
  CERT_HAS_EXPIRED: "The server's certificate has expired",
};

/** What to do about a refusal of which no more is known than its code. */
export const hintOfCode = (code: string): string | undefined =>
  Object.hasOwn(byCode, code) ? byCode[code] : undefined;

const more = new WeakMap<RmmError, string>();

/** The error, with what to do about it where only the command knows that. */
export function withHint(error: RmmError, hint: string | undefined): RmmError {
  if (hint !== undefined) more.set(error, hint);
  return error;
}

/** What to do about an error of the API; undefined where there is nothing useful to say. */
export function hintFor(error: RmmError, nowMs: number): string | undefined {
  const known = more.get(error);
  if (known !== undefined) return known;
  if (error instanceof OutcomeUnknownError) {
    const key = error.idempotencyKey;
    return key === undefined
      ? "Look whether it was done before you repeat it"
      : `Repeat the same command with --idempotency-key ${key}: it will not be done twice`;
  }
  if (error instanceof RateLimitError && error.retryAt !== undefined) {
    return `Try again ${momentText(error.retryAt.getTime(), nowMs)}`;
  }
  if (error instanceof ConnectionError && plainHttp.has(reasonOf(error)))
    return "The server speaks no TLS there: an address with http://, or the port that has it";
  if (error instanceof NotRmmServerError) return "See `rmm config explain` for where the address comes from";
  if (error instanceof ConnectionError && reasonOf(error) === "PROXY_407")
    return "The proxy wants a user and password: HTTPS_PROXY=http://user:password@host:port";
  if (error instanceof ConnectionError && proxyOf(error) !== undefined)
    return "Is the proxy up, and right? HTTPS_PROXY and HTTP_PROXY name it, NO_PROXY lists what goes without";
  if (error instanceof ConnectionError) return "Is the server up, and its address right? See `rmm config explain`";
  if (error.code === "MFA_REQUIRED" && hasFactor(error) !== undefined)
    return hasFactor(error) ? "Prove your second factor with `rmm auth mfa step-up`" : factorFirst;
  if (error.code === "UNSAFE_URL" && error.operation?.startsWith("webhooks."))
    return "For a receiver on your own machine: `rmm webhooks listen`. A server that is started with WEBHOOK_ALLOW_PRIVATE=true lets partner and system scope name private targets";
  if (error.code === "INVALID_STATE" && statusOf(error) === "not_anchored")
    return "No anchor covers it yet: they are taken hourly, and `rmm audit verify` of its chain (--org contoso-dental) takes one now; of one that retention has reached there is no proof any more";
  if (error.code === "ALREADY_PENDING" && error.operation?.startsWith("elevation-requests."))
    return "`rmm pam list --status pending` shows what waits for a decision";
  return hintOfCode(error.code)?.replace("rmm <command>", commandOf(error));
}

/** `rmm devices move-org` of `devices.moveOrg`. */
const commandOf = ({ operation = "" }: RmmError): string =>
  `rmm ${operation.replace(".", " ").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`.trim();

/** As the server says; undefined where it does not. */
const hasFactor = ({ details }: RmmError): unknown => (details as { mfaEnabled?: unknown } | undefined)?.mfaEnabled;

const plainHttp = new Set(["EPROTO", "ERR_SSL_WRONG_VERSION_NUMBER"]);

const proxyOf = ({ details }: RmmError): unknown => (details as { proxy?: unknown } | undefined)?.proxy;

const statusOf = ({ details }: RmmError): unknown => (details as { status?: unknown } | undefined)?.status;

const reasonOf = ({ details }: RmmError): string => String((details as { reason?: unknown } | undefined)?.reason);
