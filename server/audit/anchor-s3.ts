import { createHash } from "node:crypto";
import { AwsV4Signer } from "aws4fetch";
import { guardedFetch, OutboundRefused } from "#server/platform/guarded-fetch";
import type { Services } from "#server/services";
import { AnchorDiffers, type AnchorTarget, lineOf, markOf, placeOf } from "./anchor-target.ts";

type Settings = NonNullable<Services["config"]["anchorS3"]>;

const TIMEOUT_MS = 30_000;

/**
 * `AUDIT_ANCHOR_S3_BUCKET`: an object for each statement. `If-None-Match: *` has the store refuse to write one over, also
 * where two processes deliver the same; the bucket's object lock keeps everybody else from it
 * (docs/audit-format.md, "Anchors elsewhere").
 */
export function s3Target(services: Services, settings: Settings): AnchorTarget {
  const { names, config } = services;
  // The operator chose the address: it may lie in the own network.
  const way = guardedFetch({ names, proxies: config.proxies, allowPrivate: true, timeoutMs: TIMEOUT_MS });
  const send = async (method: "PUT" | "GET", url: string, body?: string) => {
    const request = await signed(settings, { method, url, body });
    return way
      .fetch(url, { method, headers: request.headers, body: body ?? null, redirect: "manual" })
      .catch((error) => {
        throw new Error(error instanceof OutboundRefused ? error.message : "the request could not be sent");
      });
  };
  return {
    name: "s3",
    mark: markOf(settings.endpoint ?? "", settings.region, settings.bucket, settings.prefix),
    async deliver(statement) {
      const url = urlOf(settings, `${settings.prefix}${placeOf(statement)}`);
      const body = lineOf(statement);
      const put = await send("PUT", url, body);
      if (put.status === 200 || put.status === 201) return;
      // 412: something is there. 409: somebody writes it at this moment.
      if (put.status !== 412) throw new Error(await failureOf(put));
      const there = await send("GET", url);
      if (there.status !== 200) throw new Error(`an object is there, and cannot be read: ${await failureOf(there)}`);
      if ((await there.text()) !== body) throw new AnchorDiffers(`${placeOf(statement)} holds something else`);
    },
  };
}

/** With an endpoint of one's own the bucket is part of the path, as every compatible store takes it. */
function urlOf({ endpoint, region, bucket }: Settings, key: string): string {
  const path = key.split("/").map(encodeURIComponent).join("/");
  return endpoint === undefined
    ? `https://${bucket}.s3.${region}.amazonaws.com/${path}`
    : `${endpoint}/${encodeURIComponent(bucket)}/${path}`;
}

function signed(
  { accessKeyId, secretAccessKey, region }: Settings,
  { method, url, body }: { method: string; url: string; body: string | undefined },
) {
  const sha256 = createHash("sha256").update(body ?? "");
  const hash = sha256.digest();
  const headers: Record<string, string> = { "x-amz-content-sha256": hash.toString("hex") };
  if (method === "PUT") {
    headers["content-type"] = "application/x-ndjson";
    headers["if-none-match"] = "*";
    // Buckets with object lock take nothing without a checksum.
    headers["x-amz-checksum-sha256"] = hash.toString("base64");
  }
  const request = { method, url, headers, ...(body === undefined ? {} : { body }) };
  return new AwsV4Signer({ ...request, accessKeyId, secretAccessKey, region, service: "s3" }).sign();
}

/** The status, and the store's word for it; nothing else of its answer. */
async function failureOf(answer: Response): Promise<string> {
  const code = /<Code>([A-Za-z0-9]{1,60})<\/Code>/.exec(await answer.text().catch(() => ""))?.[1];
  return `it answered ${answer.status}${code === undefined ? "" : ` ${code}`}`;
}
