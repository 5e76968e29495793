import { buildOpenApi } from "#contract/openapi";
import { cliManifest } from "./commands.ts";
import { sdkEndpoints } from "./endpoints.ts";
import { sdkMethods } from "./methods.ts";

/** Every generated file: path from the root of the repository to its text. */
export function generatedFiles(): Map<string, string> {
  return new Map([
    ["sdk/generated/endpoints.ts", sdkEndpoints()],
    ["sdk/generated/methods.ts", sdkMethods()],
    ["fixtures/golden/openapi.json", `${JSON.stringify(buildOpenApi(), null, 2)}\n`],
    ...cliManifest(),
  ]);
}

/** Folders that hold nothing but generated files: what is no longer made there is deleted. */
export const generatedFolders = ["sdk/generated", "cli/generated"] as const;
