import { readFileSync } from "node:fs";
import { generatedFiles } from "../gen/outputs.ts";
import { registries } from "../gen/registries.ts";

/** Generated files that differ from what `npm run gen` would write. */
export async function generatedFaults(): Promise<string[]> {
  return [...registries(), ...generatedFiles()].flatMap(([path, text]) => {
    try {
      return readFileSync(path, "utf8") === text ? [] : [`${path} is out of date: npm run gen`];
    } catch {
      return [`${path} is missing: npm run gen`];
    }
  });
}
