import type { Store } from "#server/db/dialect/index";
import type { Reader } from "#server/db/unit-of-work";
import { findActiveProvider } from "#server/features/sign-in/sso-providers/find-active-provider";
import type { Call } from "#server/http/call";
import { MINUTE } from "#server/platform/clock";
import { buttonOf } from "./login-url.ts";

interface LoginContext {
  branding: { logoUrl: string | null; accentColor: string | null; headline: string | null } | null;
  partnerSso: ReturnType<typeof buttonOf>;
}

const empty: LoginContext = { branding: null, partnerSso: null };
const KEEP_MS = MINUTE;
/** Every visitor of the login page asks; what it says may be a minute old. */
const kept = new WeakMap<Store, { untilMs: number; context: LoginContext }>();

/**
 * What the login page of a self-hosted server with a single partner shows (docs/single-sign-on.md, "Public lookups").
 */
export async function showLoginContext(
  call: Pick<Call, "config" | "clock" | "services" | "readAsSystem">,
): Promise<LoginContext> {
  if (call.config.hosted) return empty;
  const { store } = call.services;
  const known = kept.get(store);
  if (known && known.untilMs > call.clock.nowMs()) return known.context;
  const context = await call.readAsSystem("sign-in", readContext);
  kept.set(store, { untilMs: call.clock.nowMs() + KEEP_MS, context });
  return context;
}

async function readContext(db: Reader): Promise<LoginContext> {
  const partners = await db.selectFrom("partners").select("id").where("deletedAt", "is", null).limit(2).execute();
  const [only] = partners;
  if (!only || partners.length > 1) return empty;
  const branding = await db
    .selectFrom("partnerLoginBranding")
    .select(["logoUrl", "accentColor", "headline"])
    .where("partnerId", "=", only.id)
    .executeTakeFirst();
  return { branding: branding ?? null, partnerSso: buttonOf(await findActiveProvider(db, { partnerId: only.id })) };
}
