import type { Context } from "../../../context.ts";
import { usageError } from "../../../errors/cli-error.ts";
import { parseDocument } from "../../../input/parse-document.ts";
import { fileName, readText } from "../../../input/read-text.ts";

/** Lines, or a list in JSON or YAML; of objects, as `rules list` prints them, the id or the name. */
export async function namesIn({ shell }: Context, path: string, encoding: string | undefined): Promise<string[]> {
  const text = await readText(shell, path, encoding, "--file");
  const name = fileName(path);
  if (!/^\s*(\[|-\s)/.test(text))
    return text
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "" && !line.startsWith("#"));
  const { value, problems } = await parseDocument(text);
  if (problems[0]) throw usageError(`${name}:${problems[0].line}: ${problems[0].message.split("\n")[0]}`);
  return (value as unknown[]).map((entry, at) => {
    const row =
      typeof entry === "object" && entry !== null ? (entry as { id?: unknown; name?: unknown }) : { name: entry };
    const called = row.id ?? row.name;
    if (called === undefined || called === null) throw usageError(`${name}: entry ${at + 1} has neither id nor name`);
    return String(called);
  });
}
