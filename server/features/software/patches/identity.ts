import { createHash } from "node:crypto";
import type { patchSources } from "#contract/resources/software/patches";

export interface Identified {
  readonly source: (typeof patchSources)[number];
  readonly externalId?: string | null | undefined;
  readonly packageId?: string | null | undefined;
  readonly title: string;
  readonly version?: string | null | undefined;
}

/** What makes two reported patches the same one, on whatever device (docs/software.md, "Shared patches"). */
export function identityOf({ source, externalId, packageId, title, version }: Identified): string {
  const named = ["title", title.toLowerCase().replace(/\s+/g, " ")] as const;
  const listed = externalId ? (["externalId", externalId] as const) : undefined;
  if (source !== "third_party" && source !== "custom") return JSON.stringify(listed ?? [...named, version ?? null]);
  const own = packageId ? (["packageId", packageId] as const) : (listed ?? named);
  // What is decided of one version never covers a later one.
  return JSON.stringify([...own, version ?? null]);
}

/**
 * A uuid (version 8) made from the identity. One that holds its time, or a random one, would tell whether another tenant
 * had the patch before.
 */
export function patchIdOf(source: string, identity: string): string {
  const bytes = createHash("sha256")
    .update(JSON.stringify([source, identity]))
    .digest()
    .subarray(0, 16);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
