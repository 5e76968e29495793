import type { Command } from "commander";
import type { RmmClient } from "#sdk/client";
import type { Context } from "../../context.ts";
import { parseDuration } from "../../duration.ts";
import { usageError } from "../../errors/cli-error.ts";
import { namesOf } from "../../generic/names.ts";
import { type KeyKind, keyKinds, kindsOf } from "../../keys/key-kinds.ts";
import { readKeys } from "../../keys/read-keys.ts";
import type { KeyFilter } from "../../keys/select-keys.ts";
import type { Read } from "../../provisioning/read-all.ts";

/** Flags that `rmm keys list` and `rmm keys rotate` share. */
export interface FilterOptions {
  kind?: string[];
  expiring?: string;
  olderThan?: string;
  partner?: string;
}

export function addFilterOptions(command: Command): void {
  command
    .option("--kind <kinds>", `${keyKinds.join(", ")} (repeat or use commas; default all)`, collect, undefined)
    .option("--expiring <duration>", "only keys that work now and end within this time: 14d")
    .option("--older-than <duration>", "only keys that work now and whose material is older: 90d")
    .option("--partner <partner>", "slug, name or id of the partner whose partner keys are meant, for system scope");
}

export const collect = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value];

export function filterOf({ expiring, olderThan }: FilterOptions): KeyFilter {
  return {
    expiringMs: expiring === undefined ? undefined : parseDuration(expiring, "--expiring"),
    olderThanMs: olderThan === undefined ? undefined : parseDuration(olderThan, "--older-than"),
  };
}

export interface Scope {
  readonly kinds: readonly KeyKind[];
  readonly orgId: string | undefined;
  readonly partnerId: string | undefined;
}

/** Which kinds are meant, and whose. What the caller cannot reach is left out with a word, unless it was named. */
export async function scopeOf(
  context: Context,
  rmm: RmmClient,
  { kind, partner }: FilterOptions,
  read: Read,
): Promise<Scope> {
  const names = namesOf(context);
  const named = kindsOf(kind);
  const org = context.settings.org.value;
  if (org !== undefined && named?.includes("partner-key")) {
    throw usageError("Partner keys belong to the partner and to no organization", "Leave out --org, or partner-key");
  }
  const orgId = org === undefined ? undefined : await names.orgId(org);
  const partnerId = partner === undefined ? undefined : await names.partnerId(partner);
  if (named !== undefined || org !== undefined) {
    return { kinds: named ?? keyKinds.filter((one) => one !== "partner-key"), orgId, partnerId };
  }
  const me = await read((options) => rmm.users.me({}, options));
  if (me.scope === "partner" || (me.scope === "system" && partnerId !== undefined)) {
    return { kinds: keyKinds, orgId, partnerId };
  }
  if (me.scope === "system") await context.notice("Partner keys are left out: name the partner with --partner");
  return { kinds: keyKinds.filter((one) => one !== "partner-key"), orgId, partnerId };
}

/** All keys of the scope. */
export const keysIn = (context: Context, rmm: RmmClient, scope: Scope, read: Read) =>
  readKeys({ rmm, read, nowMs: context.shell.now(), ...scope });
