import { problem } from "#server/problem";
import type { Upgrade } from "./upgrade.ts";

/** A path that takes WebSockets. */
export interface UpgradePath {
  readonly upgrade: Upgrade;
  /** Template with its prefix: what the log and the metrics call it. */
  readonly label: string;
  /** The parameters of a path that this is; 400 when one is no valid encoding. */
  params(path: string): Record<string, string>;
}

/** Finds the one of a path; there are few, so they are tried one after the other. */
export function upgradePaths(upgrades: readonly Upgrade[], prefix: string): (path: string) => UpgradePath | undefined {
  const paths = upgrades.map((upgrade) => {
    const label = `${prefix}${upgrade.path}`;
    const names = [...label.matchAll(/:(\w+)/g)].map(([, name]) => name as string);
    const pattern = new RegExp(`^${label.replaceAll(/:\w+/g, "([^/]+)")}/?$`);
    return { upgrade, label, pattern, params: (path: string) => paramsOf(names, pattern.exec(path)?.slice(1) ?? []) };
  });
  return (path) => paths.find(({ pattern }) => pattern.test(path));
}

function paramsOf(names: readonly string[], values: readonly string[]): Record<string, string> {
  try {
    return Object.fromEntries(names.map((name, index) => [name, decodeURIComponent(values[index] as string)]));
  } catch {
    throw problem("VALIDATION_ERROR", { message: "The path cannot be read" });
  }
}
