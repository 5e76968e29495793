import { printable } from "../output/escape.ts";

/** Text in quotes stays on one line, however long. */
const layout = { lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER };

/**
 * A provisioning file as YAML that this program and any editor read back as it was: one key a line, no folding. What no
 * terminal may get stands in it as escapes, which only text in double quotes knows.
 */
export async function toYaml(file: object, comment = ""): Promise<string> {
  const { Document, visit } = await import("yaml");
  const document = new Document(file, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (_key, node) => {
      if (typeof node.value === "string" && printable(node.value) !== node.value) node.type = "QUOTE_DOUBLE";
    },
  });
  const head = comment === "" ? "" : comment.replace(/^/gm, "# ").replace(/ +$/gm, "");
  return printable(`${head === "" ? "" : `${head}\n`}${document.toString(layout)}`);
}
