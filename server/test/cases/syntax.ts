/** A node of a syntax tree in the form of ESTree. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string";

export const childrenOf = (node: Node): Node[] => Object.values(node).flat().filter(isNode);

export function walk(node: Node, look: (node: Node) => void): void {
  look(node);
  for (const child of childrenOf(node)) walk(child, look);
}

export const isFunction = (node: Node): boolean =>
  node.type === "ArrowFunctionExpression" || node.type === "FunctionExpression" || node.type === "FunctionDeclaration";

const known = new WeakMap<Node, Map<string, Node>>();

/** The named functions of a file, at any depth. */
export function namesOf(program: Node): Map<string, Node> {
  const names = known.get(program) ?? new Map<string, Node>();
  if (known.has(program)) return names;
  known.set(program, names);
  walk(program, (node) => {
    const name = (node["id"] as Node | null | undefined)?.["name"];
    if (typeof name !== "string") return;
    if (node.type === "FunctionDeclaration") names.set(name, node);
    const value = node["init"];
    if (node.type === "VariableDeclarator" && isNode(value) && isFunction(value)) names.set(name, value);
  });
  return names;
}

/** The named imports of a file: local name → module and exported name. */
export function importsOf(program: Node): Map<string, { from: string; name: string }> {
  const imports = new Map<string, { from: string; name: string }>();
  for (const statement of program["body"] as Node[]) {
    if (statement.type !== "ImportDeclaration") continue;
    for (const item of statement["specifiers"] as Node[]) {
      const local = String((item["local"] as Node)["name"]);
      const name = String((item["imported"] as Node | undefined)?.["name"] ?? local);
      imports.set(local, { from: String((statement["source"] as Node)["value"]), name });
    }
  }
  return imports;
}
