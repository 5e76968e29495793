import { readFileSync } from "node:fs";
import { closedLists } from "./closed-lists.ts";
import { cliManifest } from "./commands.ts";

import { sdkEndpoints } from "./endpoints.ts";
import { sdkEventData } from "./event-data.ts";
import { sdkMethods } from "./methods.ts";
import { sdkModels } from "./models.ts";
import { openApiGoldens } from "./openapi-goldens.ts";
import { sdkOperationErrors } from "./operation-errors.ts";
import { policyFeatureTable } from "./policy-features.ts";
import { withRoomTable } from "./room-table.ts";

/** Every generated file, and the one with a generated part: path from the root of the repository to its text. */
export function generatedFiles(): Map<string, string> {
  const models = sdkModels();
  return new Map([
    ...closedLists(),
    ["sdk/contract/core/generated/policy-features.ts", policyFeatureTable()],
    ["sdk/generated/endpoints.ts", sdkEndpoints()],
    ["sdk/generated/event-data.ts", sdkEventData()],
    ["sdk/generated/methods.ts", sdkMethods(models)],
    ...models.files,
    ["sdk/generated/operation-errors.ts", sdkOperationErrors()],
    ...openApiGoldens(),
    ...cliManifest(),
    ["server/README.md", withRoomTable(readFileSync("server/README.md", "utf8"))],
  ]);
}

/** Folders that hold nothing but generated files: what is no longer made there is deleted. */
export const generatedFolders = [
  "sdk/contract/core/generated",
  "sdk/generated",
  "sdk/generated/models",
  "cli/generated",
] as const;
