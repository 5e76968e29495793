import type { Mapping } from "./mapping.ts";
import type { Advice } from "./merge-rows.ts";

/** The mapping under which two rows that contradict each other would not. */
export const adviceFor =
  ({ columns }: Mapping): Advice =>
  (target) => {
    if (!target.startsWith("site.")) return `where the column does not belong there, leave it out: --map "${target}="`;
    const names = columns.get("site.name") ?? [];
    const more = ["site.address.city", "site.address.line1", "site.address.postalCode"]
      .flatMap((one) => columns.get(one) ?? [])
      .find((column) => !names.includes(column));
    if (more === undefined) return `where the column does not belong there, leave it out: --map "${target}="`;
    return `where these are two sites, give each a name: --map "site.name=${[...names, more].join("+")}"`;
  };
