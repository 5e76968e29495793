import type { RmmClient } from "#sdk/client";
import { CliError, usageError } from "../errors/cli-error.ts";
import { didYouMean } from "../suggest.ts";
import type { LiveMe } from "./live.ts";
import type { Read } from "./read-all.ts";

/** The partner in which organizations live: the caller's own, or for system scope the one that the file names. */
export async function resolvePartner(
  rmm: RmmClient,
  me: Pick<LiveMe, "scope" | "partnerId">,
  named: string | undefined,
  read: Read,
): Promise<string | undefined> {
  if (me.scope === "system") return named === undefined ? refuseUnnamed() : findPartner(rmm, named, read);
  const own = me.partnerId ?? undefined;
  if (named === undefined || named === own) return own;
  const isOwn =
    me.scope === "partner" && (await read((options) => rmm.partners.getMine({}, options))).slug === named.toLowerCase();
  if (isOwn) return own;
  throw new CliError(`The file belongs to partner ${named}, and you are signed in elsewhere`, {
    exit: "forbidden",
    code: "PARTNER_ACCESS_DENIED",
    hint: "Sign in with `rmm auth login` as a member of that partner, or leave `partner:` out of the file",
  });
}

function refuseUnnamed(): never {
  throw usageError(
    "A caller of system scope must say whose organizations these are",
    "Write `partner: <slug or id>` into the file, or give --partner",
  );
}

async function findPartner(rmm: RmmClient, named: string, read: Read): Promise<string> {
  const slugs: string[] = [];
  let page = await read((options) => rmm.partners.list({ query: { limit: 100 } }, options));
  for (;;) {
    const found = page.items.find(({ id, slug }) => id === named || slug === named.toLowerCase());
    if (found) return found.id;
    slugs.push(...page.items.map(({ slug }) => slug));
    if (!page.hasNext) break;
    const current = page;
    page = (await read(() => current.next())) as typeof page;
  }
  throw new CliError(`There is no partner ${named}${didYouMean(named, slugs)}`, {
    exit: "notFound",
    code: "NOT_FOUND",
  });
}
