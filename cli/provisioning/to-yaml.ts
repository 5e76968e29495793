/** A provisioning file as YAML that this program and any editor read back as it was: one key a line, no folding. */
export async function toYaml(file: object, comment = ""): Promise<string> {
  const { stringify } = await import("yaml");
  const head =
    comment === ""
      ? ""
      : `${comment
          .split("\n")
          .map((line) => `# ${line}`.trimEnd())
          .join("\n")}\n`;
  return head + stringify(file, { lineWidth: 0, aliasDuplicateObjects: false });
}
