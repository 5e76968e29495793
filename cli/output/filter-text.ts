/** The fields of an answer that hold the conditions of a filter. */
const holders = ["conditions", "filterConditions"] as const;

/** Conditions as `--where` writes them, by the field that holds them; nothing where a field holds something else. */
export async function filterTexts(row: object): Promise<Readonly<Record<string, string>>> {
  const given = Object.entries(row).filter(([name, value]) => isHolder(name) && isGroup(value));
  if (given.length === 0) return {};
  // Loaded for a filter alone, for speed.
  const [{ checkFilter }, { printWhere }] = await Promise.all([
    import("#contract/core/filters/check-filter"),
    import("../where/print.ts"),
  ]);
  return Object.fromEntries(
    given.flatMap(([name, value]) => {
      const checked = checkFilter(value);
      return "filter" in checked ? [[name, printWhere(checked.filter)] as const] : [];
    }),
  );
}

const isHolder = (name: string): boolean => (holders as readonly string[]).includes(name);

const isGroup = (value: unknown): boolean => typeof value === "object" && value !== null && "conditions" in value;
