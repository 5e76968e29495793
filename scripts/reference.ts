import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { helpTexts } from "./reference/help-texts.ts";
import { manPage, markdownPages } from "./reference/pages.ts";

/** Writes `man rmm` and the Markdown reference beside the built command, from its own help. */
async function reference(root: string): Promise<void> {
  const groups = await helpTexts();
  await rm(`${root}/dist/reference`, { recursive: true, force: true });
  for (const [path, text] of [["man/rmm.1", manPage(groups)] as const, ...markdownPages(groups)]) {
    await mkdir(dirname(`${root}/dist/${path}`), { recursive: true });
    await writeFile(`${root}/dist/${path}`, text);
  }
}

await reference(fileURLToPath(new URL("../", import.meta.url)));
