import { readFileSync } from "node:fs";

/** Replaced by the bundler. */
declare const RMM_VERSION: string | undefined;

/** Version of the package. */
export const version: string =
  typeof RMM_VERSION === "string"
    ? RMM_VERSION
    : (JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }).version;
