import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Writes into a tree of the repository: all of it is prepared first, so that a mistake leaves nothing half done. */
export class TreeEdit {
  readonly #root: string;
  readonly #texts = new Map<string, string>();

  constructor(root: string) {
    this.#root = root;
  }

  exists(path: string): boolean {
    return this.#texts.has(path) || existsSync(join(this.#root, path));
  }

  /** A file that is not there yet. */
  add(path: string, text: string): void {
    if (this.exists(path)) throw new Error(`${path} exists already`);
    this.#texts.set(path, text);
  }

  /** Puts `text` before the first match of `anchor`. */
  insertBefore(path: string, anchor: RegExp | string, text: string): void {
    this.#splice(path, anchor, (found) => `${text}${found}`);
  }

  insertAfter(path: string, anchor: RegExp | string, text: string): void {
    this.#splice(path, anchor, (found) => `${found}${text}`);
  }

  /** Adds a property to the object literal that ends the statement which begins with `start`, wherever that stands. */
  insertProperty(path: string, start: RegExp, property: string): void {
    const [line] = new RegExp(`${start.source}.*`, "m").exec(this.text(path)) ?? [""];
    const statement = line.endsWith(";")
      ? start.source + String.raw`.*?(?= \}\)?;$)`
      : start.source + String.raw`[^]*?(?=^\}\)?;$)`;
    this.insertAfter(path, new RegExp(statement, "m"), line.endsWith(";") ? `, ${property}` : `  ${property},\n`);
  }

  /** Adds a name to the import from a module, or the whole import. */
  insertImport(path: string, from: string, name: string): void {
    const imported = new RegExp(`import \\{([^}]*)\\} from "${from.replaceAll(".", "\\.")}";`).exec(this.text(path));
    if (imported === null) this.insertBefore(path, /^/, `import { ${name} } from "${from}";\n`);
    else if (!imported[1]?.split(",").some((one) => one.trim() === name))
      this.#splice(path, imported[0], (found) => found.replace("{", `{ ${name},`));
  }

  /** As it will be. */
  text(path: string): string {
    return this.#texts.get(path) ?? readFileSync(join(this.#root, path), "utf8");
  }

  /** At the very place of the match: the same text may stand earlier in the file too. */
  #splice(path: string, anchor: RegExp | string, change: (found: string) => string): void {
    const before = this.text(path);
    const at = typeof anchor === "string" ? before.indexOf(anchor) : (anchor.exec(before)?.index ?? -1);
    const found = typeof anchor === "string" ? anchor : anchor.exec(before)?.[0];
    if (found === undefined || at < 0) throw new Error(`${path} has no place for it: ${anchor}`);
    this.#texts.set(path, before.slice(0, at) + change(found) + before.slice(at + found.length));
  }

  /** Writes everything; answers the paths. */
  write(): string[] {
    for (const [path, text] of this.#texts) {
      mkdirSync(dirname(join(this.#root, path)), { recursive: true });
      writeFileSync(join(this.#root, path), text);
    }
    return [...this.#texts.keys()];
  }
}
