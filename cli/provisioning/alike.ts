import { looksOf } from "#contract/core/characters";
import type { FileOrganization } from "./model.ts";

interface Named {
  readonly slug: string;
  readonly name?: string;
}

/** New organizations whose name reads like that of another one: most often one customer under two slugs. */
export function alikeWarnings(files: readonly FileOrganization[], live: readonly Named[]): string[] {
  const known = new Set(live.map(({ slug }) => slug));
  return files.flatMap(({ slug, name, line }, index) => {
    if (name === undefined || known.has(slug)) return [];
    const earlier = files.slice(0, index).map((one) => ({ ...one, where: `of line ${one.line}` }));
    const others: (Named & { where: string })[] = [
      ...live.map((one) => ({ ...one, where: "on the server" })),
      ...earlier,
    ];
    const other = others.find((one) => one.name !== undefined && looksOf(one.name) === looksOf(name));
    return other
      ? [`line ${line}: ${slug} is called ${name}, much like ${other.slug} ${other.where} (${other.name})`]
      : [];
  });
}
