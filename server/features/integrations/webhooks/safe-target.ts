import type { WebhooksTable } from "#server/db/tables/integrations";
import { OutboundRefused } from "#server/platform/guarded-fetch";
import type { GuardedPost } from "#server/platform/guarded-post";
import { problem } from "#server/problem";
import type { Services } from "#server/services";
import { splitCredentials } from "./address.ts";

/** What a webhook may reach, by who wrote it last (docs/integrations.md, "Where a webhook may lead"). */
export const wayTo = (
  services: Pick<Services, "webhookTargets">,
  writtenBy: WebhooksTable["writtenBy"],
): GuardedPost => (writtenBy === "organization" ? services.webhookTargets.onPublic : services.webhookTargets.anywhere);

/** Refuses an address before it is saved (400 `UNSAFE_URL`). */
export async function refuseUnsafe(
  { services }: { services: Pick<Services, "webhookTargets"> },
  url: string,
  writtenBy: WebhooksTable["writtenBy"],
): Promise<void> {
  try {
    await wayTo(services, writtenBy).assertSafe(splitCredentials(url).url);
  } catch (error) {
    if (!(error instanceof OutboundRefused)) throw error;
    throw problem("UNSAFE_URL", { details: { field: "url", reason: error.message }, cause: error });
  }
}
