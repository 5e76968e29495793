import type { Reader } from "#server/db/unit-of-work";

export interface LoginBranding {
  logoUrl: string | null;
  accentColor: string | null;
  headline: string | null;
}

const plain: LoginBranding = { logoUrl: null, accentColor: null, headline: null };

/** A partner that never set any has none of the three. */
export async function brandingOf(db: Reader, partnerId: string): Promise<LoginBranding> {
  const row = await db
    .selectFrom("partnerLoginBranding")
    .select(["logoUrl", "accentColor", "headline"])
    .where("partnerId", "=", partnerId)
    .executeTakeFirst();
  return row ?? plain;
}
