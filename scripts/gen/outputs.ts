import { cliManifest } from "./commands.ts";
import { sdkEndpoints } from "./endpoints.ts";
import { sdkMethods } from "./methods.ts";
import { openApiGoldens } from "./openapi-goldens.ts";

/** Every generated file: path from the root of the repository to its text. */
export function generatedFiles(): Map<string, string> {
  return new Map([
    ["sdk/generated/endpoints.ts", sdkEndpoints()],
    ["sdk/generated/methods.ts", sdkMethods()],
    ...openApiGoldens(),
    ...cliManifest(),
  ]);
}

/** Folders that hold nothing but generated files: what is no longer made there is deleted. */
export const generatedFolders = ["sdk/generated", "cli/generated"] as const;
