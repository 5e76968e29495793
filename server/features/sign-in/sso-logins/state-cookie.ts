import type { Call } from "#server/http/call";
import type { Vault } from "#server/platform/vault";
import { sameText } from "#server/platform/vault";
import { LOGIN_SESSION_MS } from "./rules.ts";

const NAME = "svc_sso_state";
const PATH = "/api/v1/sso/callback";

/** Keyed from the encryption key, which is not the one that signs access tokens. */
const signature = (vault: Vault, state: string): string => vault.mac(state, "sso-state");

type Setter = Pick<Call, "config" | "services" | "setHeader">;

/**
 * Binds a sign-in to this browser: its state counts only together with this cookie
 * (docs/single-sign-on.md, "Starting a sign-in").
 */
export function setStateCookie(call: Setter, state: string): void {
  call.setHeader("Set-Cookie", cookie(call, signature(call.services.vault, state), LOGIN_SESSION_MS / 1_000));
}

export function clearStateCookie(call: Setter): void {
  call.setHeader("Set-Cookie", cookie(call, "", 0));
}

function cookie({ config }: Setter, value: string, maxAgeSeconds: number): string {
  const secure = config.production || config.publicUrl?.startsWith("https:") === true;
  return `${NAME}=${value}; Path=${PATH}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
}

/** Compared in constant time: a state that another browser started is refused. */
export function isBoundToBrowser(call: Pick<Call, "header" | "services">, state: string): boolean {
  const given = cookieNamed(call.header("cookie") ?? "");
  return given !== undefined && sameText(given, signature(call.services.vault, state));
}

function cookieNamed(header: string): string | undefined {
  const pairs = header.split(";").map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${NAME}=`))?.slice(NAME.length + 1);
}
