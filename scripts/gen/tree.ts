import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Area, areas } from "#contract/areas";

export interface NounFile {
  readonly area: Area;
  /** Kebab-case, as the file is named. */
  readonly noun: string;
  /** As the SDK names it. */
  readonly key: string;
}

/** Every noun of the contract by the files that exist, area by area in the order of `areas`. */
export function nounFiles(root = "."): NounFile[] {
  return (Object.keys(areas) as Area[]).flatMap((area) =>
    list(join(root, "sdk/contract/resources", area))
      .filter((name) => name.endsWith(".ts"))
      .map((name) => name.slice(0, -".ts".length))
      .map((noun) => ({ area, noun, key: camel(noun) })),
  );
}

/** Sorted names in a folder; none where it does not exist. */
export function list(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return [];
  }
}

/** Sorted names of the folders in a folder; none where it does not exist. */
export const folders = (folder: string): string[] =>
  list(folder).filter((name) => statSync(join(folder, name)).isDirectory());

export const camel = (noun: string): string => noun.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
