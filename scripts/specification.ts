import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Built, build } from "./specification/build.ts";
import { keyOf, readDocuments } from "./specification/documents.ts";

/**
 * `npm run specification -- DIR`: reads the specification and the contract below DIR (`spec/`, `contract/`) and writes
 * what they say of every endpoint to `fixtures/golden/specification.json`, with which a conformance test compares the
 * declarations in `sdk/contract`. The documents are not part of the tree; run it again when they change.
 */
const target = fileURLToPath(new URL("../fixtures/golden/specification.json", import.meta.url));
const [folder] = process.argv.slice(2);
if (!folder) {
  process.stderr.write("usage: npm run specification -- DIR (the folder that holds spec/ and contract/)\n");
  process.exit(2);
}

const built = build(readDocuments(folder));
if (built.faults.length > 0) {
  process.stderr.write(`${built.faults.join("\n")}\n${built.faults.length} faults; nothing is written\n`);
  process.exit(1);
}
const text = printed(built);
const before = (() => {
  try {
    return readFileSync(target, "utf8");
  } catch {
    return undefined;
  }
})();
if (before !== text) writeFileSync(target, text);
process.stdout.write(`${built.endpoints.length} endpoints, ${before === text ? "unchanged" : "written"}\n`);

/** One line per endpoint, role and code, so that a change of the documents reads as a change of lines. */
function printed({ catalogues, endpoints }: Built): string {
  const lines = (entries: readonly (readonly [string, unknown])[]) =>
    `{\n${entries.map(([key, value]) => `    ${JSON.stringify(key)}: ${JSON.stringify(value)}`).join(",\n")}\n  }`;
  const parts: [string, string][] = [
    ["permissions", JSON.stringify(catalogues.permissions)],
    ["roles", lines(Object.entries(catalogues.roles))],
    ["errors", lines(Object.entries(catalogues.errors))],
    ["auditActions", JSON.stringify(catalogues.auditActions)],
    ["eventKinds", JSON.stringify(catalogues.eventKinds)],
    ["endpoints", lines(endpoints.map(({ method, path, ...rest }) => [keyOf({ method, path: bare(path) }), rest]))],
  ];
  return `{\n${parts.map(([name, value]) => `  "${name}": ${value}`).join(",\n")}\n}\n`;
}

/** A closing slash makes no other path. */
function bare(path: string): string {
  return path.replace(/(?<=.)\/$/, "");
}
