import { sameText } from "#server/platform/vault";
import type { Services } from "#server/services";
import type { DomainRow } from "./queries.ts";
import { recordName, recordValue } from "./rules.ts";

/** Whether the record is there now. A name system that does not answer proves nothing. */
export async function isPublished(
  { names, log }: Pick<Services, "names" | "log">,
  { domain, verificationToken }: Pick<DomainRow, "domain" | "verificationToken">,
): Promise<boolean> {
  try {
    const texts = await names.texts(recordName(domain));
    return texts.some((text) => sameText(text.trim(), recordValue(verificationToken)));
  } catch (error) {
    log.warn("sso.domain_lookup_failed", { domain, error: error as Error });
    return false;
  }
}
