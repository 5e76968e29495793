import { didYouMean } from "#contract/core/suggest";
import type { RmmClient } from "#sdk/client";
import { CliError, usageError } from "../errors/cli-error.ts";
import type { LiveMe } from "./live.ts";
import { foldName } from "./model.ts";
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
  if (me.scope === "partner" && isNamed(await read((options) => rmm.partners.getMine({}, options)), named)) return own;
  throw new CliError(`The file belongs to partner ${named}, and you are signed in elsewhere`, {
    exit: "forbidden",
    code: "PARTNER_ACCESS_DENIED",
    hint: "Sign in with `rmm auth login` as a member of that partner, or leave `partner:` out of the file",
  });
}

function refuseUnnamed(): never {
  throw usageError(
    "A caller of system scope must say whose organizations these are",
    "Write `partner: <slug, name or id>` into the file, or give --partner",
  );
}

interface Partner {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
}

const isNamed = ({ id, slug, name }: Partner, text: string): boolean =>
  id === text.toLowerCase() || slug === text.toLowerCase() || foldName(name) === foldName(text);

/** By id or slug, else by name. Two of one name are refused with both. */
async function findPartner(rmm: RmmClient, named: string, read: Read): Promise<string> {
  const all: Partner[] = [];
  let page = await read((options) => rmm.partners.list({ query: { limit: 100 } }, options));
  for (;;) {
    const found = page.items.find(({ id, slug }) => id === named.toLowerCase() || slug === named.toLowerCase());
    if (found) return found.id;
    all.push(...page.items);
    if (!page.hasNext) break;
    const current = page;
    page = (await read(() => current.next())) as typeof page;
  }
  const alike = all.filter((one) => isNamed(one, named));
  if (alike.length > 1) {
    const slugs = alike.map(({ slug }) => slug).join(", ");
    throw usageError(`${alike.length} partners are named ${named}`, `Give a slug: ${slugs}`);
  }
  if (alike[0]) return alike[0].id;
  const slugs = all.map(({ slug }) => slug);
  throw new CliError(`There is no partner ${named}${didYouMean(named, slugs)}`, {
    exit: "notFound",
    code: "NOT_FOUND",
  });
}
