import type { Implementation } from "./implement.ts";

/** What is reached by one shape of path. */
export interface Route {
  /** Template with its prefix: what the log and the metrics call it. */
  readonly label: string;
  readonly byMethod: ReadonlyMap<string, Target>;
}

export interface Target {
  readonly implementation: Implementation;
  /** Of the path's parameters, in their order. */
  readonly names: readonly string[];
}

export interface Match {
  readonly route: Route;
  /** Segments in place of the template's parameters, as they came. */
  readonly values: readonly string[];
}

interface Node {
  readonly literal: Map<string, Node>;
  parameter: Node | undefined;
  /** What answers every path below. */
  below: Node["route"];
  route: { label: string; byMethod: Map<string, Target> } | undefined;
}

const node = (): Node => ({ literal: new Map(), parameter: undefined, below: undefined, route: undefined });

/**
 * Finds the endpoint of a path in as many steps as it has segments; literal segments come before parameters
 * (docs/conventions.md, "Order of checks"). The framework's nested routers cost as much as a database query (measured).
 */
export function routeTable(
  implementations: readonly Implementation[],
  prefix: string,
): (path: string) => Match | undefined {
  const root = node();
  for (const implementation of implementations) {
    const { path, alsoAtRoot } = implementation.endpoint;
    add(root, `${prefix}${path}`, implementation);
    if (alsoAtRoot) add(root, path, implementation);
  }
  return (path) => {
    const segments = path.split("/");
    // A slash at the end is the same path.
    const end = segments.at(-1) === "" ? segments.length - 1 : segments.length;
    const values: string[] = [];
    const route = segments[0] === "" ? descend(root, 1, { segments, end, values }) : undefined;
    return route && { route, values };
  };
}

function add(root: Node, path: string, implementation: Implementation): void {
  let at = root;
  for (const segment of path.split("/").slice(1))
    at = segment.startsWith(":") ? parameterOf(at) : literalOf(at, segment);
  at.route ??= { label: path, byMethod: new Map() };
  if (implementation.endpoint.alsoBelow) at.below = at.route;
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name as string);
  at.route.byMethod.set(implementation.endpoint.method, { implementation, names });
}

function parameterOf(at: Node): Node {
  at.parameter ??= node();
  return at.parameter;
}

function literalOf(at: Node, segment: string): Node {
  const next = at.literal.get(segment) ?? node();
  at.literal.set(segment, next);
  return next;
}

interface Walk {
  segments: readonly string[];
  end: number;
  values: string[];
}

function descend(at: Node, index: number, walk: Walk): Route | undefined {
  if (index === walk.end) return at.route;
  const segment = walk.segments[index] as string;
  const literal = at.literal.get(segment);
  const found = literal && descend(literal, index + 1, walk);
  if (found || segment === "") return found ?? at.below;
  if (!at.parameter) return at.below;
  const depth = walk.values.push(segment);
  const route = descend(at.parameter, index + 1, walk);
  if (!route) walk.values.length = depth - 1;
  return route ?? at.below;
}

/** The parameters of a path by name; undefined when one is no valid encoding. */
export function parametersOf({ names }: Target, values: readonly string[]): Record<string, string> | undefined {
  const parameters: Record<string, string> = {};
  try {
    for (const [index, name] of names.entries()) parameters[name] = decodeURIComponent(values[index] as string);
  } catch {
    return undefined;
  }
  return parameters;
}
