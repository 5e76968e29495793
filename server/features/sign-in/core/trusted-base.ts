import type { Call } from "#server/http/call";

/**
 * Where a link in a mail may lead when no one is signed in: the configured address, or this machine. Never another
 * `Host` header: a request for another person's reset could otherwise choose where the token is sent.
 */
export function trustedBase(call: Pick<Call, "config" | "serverUrl">): string | undefined {
  if (call.config.publicUrl !== undefined) return call.config.publicUrl;
  if (!URL.canParse(call.serverUrl)) return undefined;
  const { hostname } = new URL(call.serverUrl);
  return ["localhost", "127.0.0.1", "[::1]"].includes(hostname) ? call.serverUrl : undefined;
}
