/** What every delivery says (docs/integrations.md, "What is sent"). */
export interface DeliveryBody {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly orgId: string;
  readonly siteId: string | null;
  readonly data: unknown;
}

/** The bytes that are signed and sent: made once, so that every attempt says the same. */
export const bodyOf = ({ id, type, timestamp, orgId, siteId, data }: DeliveryBody): string =>
  JSON.stringify({ id, type, timestamp, orgId, siteId, data });
