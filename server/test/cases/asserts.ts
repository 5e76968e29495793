import { posix } from "node:path";
import { parseAst } from "rolldown/parseAst";
import { childrenOf, importsOf, isFunction, type Node, namesOf } from "./syntax.ts";

/** Reads a file that a test imports helpers from; undefined if it does not exist. */
export type Helpers = (path: string) => string | undefined;

/** Whether a function asserts something before it returns, itself or through helpers of the tree that it calls by name. */
export function asserts(body: Node, program: Node, path: string, helpers: Helpers, seen = new Set<Node>()): boolean {
  if (seen.has(body)) return false;
  seen.add(body);
  let found = false;
  for (const part of reached(body)) look(part);
  return found;

  function look(node: Node): void {
    // What only has a name here counts where it is called by it.
    if (found || node.type === "FunctionDeclaration" || isNamedFunction(node)) return;
    if (node.type === "CallExpression") {
      const callee = node["callee"] as Node;
      if (compares(callee)) found = true;
      else if (callee.type === "Identifier") found = helperAsserts(String(callee["name"]));
    }
    for (const child of childrenOf(node)) look(child);
  }

  function helperAsserts(name: string): boolean {
    const own = namesOf(program).get(name);
    if (own) return asserts(own, program, path, helpers, seen);
    const imported = importsOf(program).get(name);
    if (!imported?.from.startsWith(".")) return false;
    const file = posix.join(posix.dirname(path), imported.from);
    const other = parsed(file, helpers);
    const helper = other && namesOf(other).get(imported.name);
    return helper !== undefined && asserts(helper, other as Node, file, helpers, seen);
  }
}

/** The statements of a function up to the first that leaves it for certain. */
function reached(body: Node): Node[] {
  const block = body["body"] as Node;
  if (block.type !== "BlockStatement") return [block];
  const statements = block["body"] as Node[];
  const end = statements.findIndex(({ type }) => type === "ReturnStatement" || type === "ThrowStatement");
  return end < 0 ? statements : statements.slice(0, end + 1);
}

/** `expect(…).toBe`, `expect.poll(…).resolves.toBe`, `assert`, `assert.equal`, `fc.assert`; `expect(…)` alone compares nothing. */
function compares(callee: Node): boolean {
  if (callee["name"] === "assert" || nameOf(callee["property"]) === "assert") return true;
  let node = callee;
  while (node.type === "MemberExpression") node = node["object"] as Node;
  if (node.type === "Identifier") return node["name"] === "assert";
  if (node.type !== "CallExpression" || callee.type !== "MemberExpression") return false;
  const begun = node["callee"] as Node;
  return (
    nameOf(begun) === "expect" ||
    (nameOf(begun["object"]) === "expect" && /^(poll|soft)$/.test(nameOf(begun["property"])))
  );
}

const nameOf = (node: unknown): string => String((node as Node | undefined)?.["name"]);

const isNamedFunction = (node: Node): boolean =>
  node.type === "VariableDeclarator" && node["init"] !== null && isFunction(node["init"] as Node);

const trees = new Map<string, Node>();

function parsed(path: string, helpers: Helpers): Node | undefined {
  const text = helpers(path);
  if (text === undefined) return undefined;
  const tree = trees.get(text) ?? (parseAst(text, { lang: "ts" }) as unknown as Node);
  trees.set(text, tree);
  return tree;
}
