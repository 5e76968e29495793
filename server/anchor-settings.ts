import { ConfigError } from "./config-error.ts";

/** Takes every anchor and prune record by POST; with a secret they are signed as other webhooks are. */
export interface AnchorWebhook {
  readonly url: string;
  readonly secret: string | undefined;
}

/** Takes every anchor and prune record as an object of its own. */
export interface AnchorS3 {
  readonly bucket: string;
  /** Empty, or folders that end in `/`. */
  readonly prefix: string;
  readonly region: string;
  /** Address of another store than Amazon's, without the bucket. */
  readonly endpoint: string | undefined;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Where anchors and prune records are brought to beside the anchor file. */
export interface AnchorPlaces {
  anchorWebhook: AnchorWebhook | undefined;
  anchorS3: AnchorS3 | undefined;
}

/** How the environment is read. */
interface Read {
  text(name: string): string | undefined;
  flag(name: string, fallback: boolean): boolean;
  url(name: string): string | undefined;
}

export const anchorPlaces = (read: Read): AnchorPlaces => ({
  anchorWebhook: anchorWebhook(read),
  anchorS3: anchorS3(read),
});

function anchorWebhook(read: Read): AnchorWebhook | undefined {
  const [url, secret] = [read.text("AUDIT_ANCHOR_WEBHOOK_URL"), read.text("AUDIT_ANCHOR_WEBHOOK_SECRET")];
  if (url === undefined) return undefined;
  const may = read.flag("WEBHOOK_ALLOW_PRIVATE", false) ? /^https?:/ : /^https:/;
  // What it is set to is not repeated: an address may hold what only its receiver should know.
  if (!URL.canParse(url) || !may.test(url) || new URL(url).username !== "" || new URL(url).password !== "")
    throw new ConfigError("AUDIT_ANCHOR_WEBHOOK_URL must be an https address without user and password");
  if (secret !== undefined && secret.length < 16)
    throw new ConfigError("AUDIT_ANCHOR_WEBHOOK_SECRET needs at least 16 characters");
  return { url, secret };
}

function anchorS3(read: Read): AnchorS3 | undefined {
  const bucket = read.text("AUDIT_ANCHOR_S3_BUCKET");
  const prefix = read.text("AUDIT_ANCHOR_S3_PREFIX") ?? "audit-anchors/";
  const [accessKeyId, secretAccessKey] = [read.text("S3_ACCESS_KEY_ID"), read.text("S3_SECRET_ACCESS_KEY")];
  const [region, endpoint] = [read.text("S3_REGION") ?? "us-east-1", read.url("S3_ENDPOINT")];
  if (bucket === undefined) return undefined;
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    throw new ConfigError("AUDIT_ANCHOR_S3_BUCKET must be the name of a bucket");
  if (!/^(?:[\w.-]{1,100}\/){0,10}$/.test(prefix))
    throw new ConfigError("AUDIT_ANCHOR_S3_PREFIX must be folders that end in /");
  if (!/^[a-z0-9-]{1,40}$/.test(region)) throw new ConfigError("S3_REGION must be the name of a region");
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new ConfigError("AUDIT_ANCHOR_S3_BUCKET needs S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY");
  return { bucket, prefix, region, endpoint, accessKeyId, secretAccessKey };
}
