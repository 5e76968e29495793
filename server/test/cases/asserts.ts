import { posix } from "node:path";
import { parseAst } from "rolldown/parseAst";
import { importsOf, type Node, namesOf, walk } from "./syntax.ts";

/** Reads a file that a test imports helpers from; undefined if it does not exist. */
export type Helpers = (path: string) => string | undefined;

/** Whether a function asserts something before it returns, itself or through helpers of the tree that it calls by name. */
export function asserts(body: Node, program: Node, path: string, helpers: Helpers, seen = new Set<Node>()): boolean {
  if (seen.has(body)) return false;
  seen.add(body);
  let found = false;
  for (const part of reached(body)) {
    walk(part, (node) => {
      if (found || node.type !== "CallExpression") return;
      const callee = node["callee"] as Node;
      if (/^(expect|assert)$/.test(rootOf(callee)) || lastOf(callee) === "assert") found = true;
      else if (callee.type === "Identifier") found = helperAsserts(String(callee["name"]));
    });
  }
  return found;

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

function rootOf(callee: Node): string {
  let node = callee;
  while (node.type === "MemberExpression" || node.type === "CallExpression") {
    node = (node["object"] ?? node["callee"]) as Node;
  }
  return String(node["name"]);
}

const lastOf = (callee: Node): unknown => (callee["property"] as Node | undefined)?.["name"];

const trees = new Map<string, Node>();

function parsed(path: string, helpers: Helpers): Node | undefined {
  const text = helpers(path);
  if (text === undefined) return undefined;
  const tree = trees.get(text) ?? (parseAst(text, { lang: "ts" }) as unknown as Node);
  trees.set(text, tree);
  return tree;
}
