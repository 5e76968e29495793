import {
  ConnectionError,
  NotRmmServerError,
  OutcomeUnknownError,
  RateLimitError,
  type RmmError,
  ValidationError,
} from "#sdk/errors";
import { momentText } from "../output/moment.ts";

/** Why a code that looks right is refused. */
export const codeHint =
  "each code works once, so wait for the next one if this was used already; and the clock of the phone must be right";

const byCode: Record<string, string> = {
  INVALID_MFA_CODE: `Check the code: ${codeHint}`,
  UNAUTHENTICATED:
    "The token has expired, or is not of this server: sign in with `rmm auth login`, or set another RMM_TOKEN or RMM_API_KEY",
  NOT_SIGNED_IN: "Sign in with `rmm auth login`, or set RMM_TOKEN or RMM_API_KEY",
  INVALID_REFRESH_TOKEN: "The session has ended. Sign in again with `rmm auth login`",
  API_KEY_INVALID:
    "The key is unknown to this server, or may not come from this address: see the principal's sourceCidrs",
  API_KEY_REVOKED: "The key was revoked; create another with `rmm api-keys create`",
  API_KEY_EXPIRED: "The key has expired; create another with `rmm api-keys create`",
  PERMISSION_DENIED: "`rmm auth can-i --list` says what you may do",
  FORBIDDEN: "`rmm auth can-i --list` says what you may do",
  INVALID_PASSWORD: "It takes your present password; without a terminal give --current-password-file",
  MFA_REQUIRED: "Prove your second factor with `rmm auth mfa step-up`, or set one up with `rmm auth mfa setup`",
  STEP_UP_REQUIRED: "Prove your second factor again with `rmm auth mfa step-up`",
  MFA_ENROLLMENT_REQUIRED: "Set up a second factor with `rmm auth mfa setup`",
  INVALID_CREDENTIALS:
    "If your company signs in through an identity provider: `rmm auth login --sso --email <address>`",
  SSO_REQUIRED: "This account signs in through its identity provider: `rmm auth login --sso --email <address>`",
  INVALID_EXCHANGE_CODE: "A sign-in must be finished within two minutes: start again with `rmm auth login --sso`",
  ORG_ID_REQUIRED: "Name the organization: --org contoso-dental; `rmm organizations list` shows them",
  ORG_CONTEXT_REQUIRED: "Name the organization: --org contoso-dental; `rmm organizations list` shows them",
  PARTNER_ID_REQUIRED: "Name the partner: --partner summit; `rmm partners list` shows them",
  USER_EXISTS: "Who has not accepted yet gets a new link: `rmm users resend-invite --user <email>`",
  UNKNOWN_EVENT: "The help of `rmm webhooks create` lists the kinds",
  UNKNOWN_PRESET: "`rmm sso-providers presets` lists those that there are",
  FULL_PARTNER_ACCESS_REQUIRED: "Only a member with access to all organizations of the partner may do this",
  IDEMPOTENCY_KEY_REUSED: "Use another --idempotency-key: this one was used for a different request",
  IDEMPOTENCY_IN_FLIGHT: "The first request with this key is still running; repeat this command in a moment",
  WRONG_CREDENTIAL: "Sign in with `rmm auth login`, or give another credential with --token-file",
  CERT_HAS_EXPIRED: "The server's certificate has expired",
};

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
  if (error instanceof ValidationError && error.outcome === "not_sent" && error.message.endsWith("must be a uuid"))
    return "It takes an id, not a name: a list shows ids with --wide";
  if (error instanceof ConnectionError && plainHttp.has(reasonOf(error)))
    return "The server speaks no TLS there: an address with http://, or the port that has it";
  if (error instanceof NotRmmServerError) return "See `rmm config explain` for where the address comes from";
  if (error instanceof ConnectionError && reasonOf(error) === "PROXY_407")
    return "The proxy wants a user and password: HTTPS_PROXY=http://user:password@host:port";
  if (error instanceof ConnectionError && proxyOf(error) !== undefined)
    return "Is the proxy up, and right? HTTPS_PROXY and HTTP_PROXY name it, NO_PROXY lists what goes without";
  if (error instanceof ConnectionError) return "Is the server up, and its address right? See `rmm config explain`";
  if (error.code === "UNSAFE_URL" && error.operation?.startsWith("webhooks."))
    return "For a receiver on your own machine: `rmm webhooks listen`. WEBHOOK_ALLOW_PRIVATE of the server allows private targets";
  return byCode[error.code];
}

const plainHttp = new Set(["EPROTO", "ERR_SSL_WRONG_VERSION_NUMBER"]);

const proxyOf = ({ details }: RmmError): unknown => (details as { proxy?: unknown } | undefined)?.proxy;

const reasonOf = ({ details }: RmmError): string => String((details as { reason?: unknown } | undefined)?.reason);
