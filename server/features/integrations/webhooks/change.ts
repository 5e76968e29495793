import { isDeepStrictEqual } from "node:util";
import type { Updateable } from "kysely";
import { changedFields } from "#server/audit/changed-fields";
import type { RetryPolicy, WebhooksTable } from "#server/db/tables/integrations";
import type { Vault } from "#server/platform/vault";
import { invalid } from "#server/problem";
import { refuseMask, shownAddress, standsFor, targetOf } from "./address.ts";
import { mergedHeaders } from "./fields.ts";
import type { WebhookRow } from "./queries.ts";
import { openHeaders, sealHeaders, sealSecret, sealUrl } from "./sealed.ts";

export interface Wanted {
  name?: string | undefined;
  url?: string | undefined;
  secret?: string | undefined;
  events?: string[] | undefined;
  headers?: { key: string; value?: string | undefined }[] | undefined;
  retryPolicy?: { [K in keyof RetryPolicy]?: RetryPolicy[K] | undefined } | undefined;
  status?: "active" | "paused" | undefined;
}

export interface Planned {
  readonly before: WebhookRow;
  readonly change: Updateable<WebhooksTable> & Partial<Pick<WebhookRow, "urlSealed" | "writtenBy" | "status">>;
  readonly changedFields: string[];
  /** Where it leads, or who answers for that, is not what it was. */
  readonly judgesUrl: boolean;
}

/** What a PATCH makes of a webhook; refuses stored secrets that would go to another target. */
export function plannedChange(
  vault: Vault,
  before: WebhookRow,
  wanted: Wanted,
  writer: WebhookRow["writtenBy"],
): Planned {
  const { id } = before;
  const url = wanted.url === undefined || standsFor(wanted.url, before.urlShown) ? undefined : wanted.url;
  if (url !== undefined) refuseMask(url);
  if (url !== undefined && targetOf(url) !== before.target) refuseStoredSecrets(before, wanted);
  const stored = openHeaders(vault, before);
  const merged = wanted.headers && mergedHeaders(wanted.headers, stored);
  const headers = isDeepStrictEqual(merged, stored) ? undefined : merged;
  const { secret, name, events, status } = wanted;
  const retryPolicy = wanted.retryPolicy && { ...before.retryPolicy, ...defined(wanted.retryPolicy) };
  const plain = defined({ name, events, retryPolicy, status });
  // Who only pauses a webhook answers for nothing that it does.
  const pauses = status === "paused" && Object.keys(defined({ ...wanted })).length === 1;
  const writtenBy = pauses ? before.writtenBy : writer;
  return {
    before,
    change: {
      ...plain,
      ...(url !== undefined && {
        urlSealed: sealUrl(vault, id, url),
        urlShown: shownAddress(url),
        target: targetOf(url),
      }),
      ...(headers && { headerKeys: headers.map(({ key }) => key), headersSealed: sealHeaders(vault, id, headers) }),
      ...(secret !== undefined && { secretSealed: sealSecret(vault, id, secret) }),
      ...(status === "active" && { consecutiveFailures: 0 }),
      writtenBy,
    },
    changedFields: [...changedFields(before, plain), ...Object.keys(defined({ url, secret, headers }))],
    judgesUrl:
      url !== undefined || status === "active" || (writtenBy === "organization" && before.writtenBy !== writtenBy),
  };
}

/** Nobody sends secrets that they cannot read to an address of their own. */
function refuseStoredSecrets(before: WebhookRow, { secret, headers }: Wanted): void {
  const again = "must be given anew with another scheme, host or port";
  const kept = headers?.findIndex(({ value }) => value === undefined) ?? (before.headerKeys.length > 0 ? -2 : -1);
  const paths = [
    ...(secret === undefined ? ["secret"] : []),
    ...(kept === -2 ? ["headers"] : kept === -1 ? [] : [`headers[${kept}].value`]),
  ];
  if (paths.length > 0) throw invalid(...paths.map((path) => ({ path, message: `${path}: ${again}` })));
}

const defined = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
