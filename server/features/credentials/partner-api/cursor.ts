import { createHmac } from "node:crypto";
import type { Call } from "#server/http/call";
import { sameText } from "#server/platform/vault";
import { problem } from "#server/problem";

/**
 * The position of an export, and the partner, resource and filters that it is bound to
 * (docs/credentials.md, "Export cursors").
 */
export interface ExportCursor {
  readonly v: 1;
  readonly resource: string;
  readonly partnerId: string;
  readonly snapshotAt: string;
  readonly updatedSince: string | null;
  readonly filters: { readonly orgId: string | null; readonly siteId: string | null };
  readonly lastUpdatedAt: string;
  readonly lastId: string;
  readonly expiresAt: string;
}

/** What a request asks to export. */
export type Walked = Pick<ExportCursor, "resource" | "partnerId" | "filters"> & {
  readonly updatedSince: string | undefined;
};

type Signing = Pick<Call, "config" | "services">;

export function signCursor(call: Signing, cursor: ExportCursor): string {
  const payload = Buffer.from(JSON.stringify(cursor)).toString("base64url");
  return `${payload}.${signatureOf(call, payload)}`;
}

/**
 * The cursor, if this server made it for this partner, resource and filters within the last day; it carries
 * `updatedSince`, which may be repeated but not changed. Nothing in it is read before its signature is verified.
 */
export function readCursor(call: Signing & Pick<Call, "clock">, text: string, walked: Walked): ExportCursor {
  const [payload = "", signature = "", ...rest] = text.split(".");
  if (rest.length > 0 || !sameText(signature, signatureOf(call, payload))) throw problem("INVALID_CURSOR");
  const cursor = JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as ExportCursor;
  const { filters, updatedSince } = walked;
  const same =
    cursor.v === 1 &&
    cursor.resource === walked.resource &&
    cursor.partnerId === walked.partnerId &&
    cursor.filters.orgId === filters.orgId &&
    cursor.filters.siteId === filters.siteId &&
    (updatedSince === undefined || updatedSince === cursor.updatedSince);
  if (!same || cursor.expiresAt <= call.clock.now()) throw problem("INVALID_CURSOR");
  return cursor;
}

function signatureOf({ config, services }: Signing, payload: string): string {
  const key = config.partnerApiCursorKey;
  const context = "partner-api-cursor";
  if (key === undefined) return Buffer.from(services.vault.mac(payload, context), "hex").toString("base64url");
  return createHmac("sha256", key).update(payload).digest("base64url");
}
