import { parseAst } from "rolldown/parseAst";
import { asserts, type Helpers } from "./asserts.ts";
import { childrenOf, isFunction, type Node, namesOf, walk } from "./syntax.ts";

/** A test in the source: an `it.each` counts as one. */
export interface WrittenTest {
  readonly path: string;
  /** Its title, after those of the `describe`s around it. */
  readonly titles: readonly string[];
  /** Why it proves nothing; empty if it runs and asserts. */
  readonly faults: readonly string[];
  /** Positions of the test and of its body in the file. */
  readonly whole: Node;
  readonly body: Node | undefined;
}

const harmless = new Set(["each", "for", "concurrent", "sequential", "sequence", "shuffle"]);

/** Reads the tests of a file. `mayLack` holds the conditions, as source text, under which a test may be skipped. */
export function readTests(path: string, text: string, mayLack: ReadonlySet<string>, helpers: Helpers): WrittenTest[] {
  const program = parseAst(text, { lang: "ts" }) as unknown as Node;
  const found: WrittenTest[] = [];
  const textOf = (node: Node) => text.slice(node.start, node.end);

  function visit(node: Node, titles: readonly string[], faults: readonly string[]): void {
    const declared = declarationOf(node);
    if (declared === undefined) {
      const condition = conditionOf(node);
      const inside =
        condition === undefined || mayLack.has(textOf(condition)) ? faults : [...faults, "only declared if"];
      for (const child of childrenOf(node)) visit(child, titles, inside);
      return;
    }
    const here = [...titles, declared.title];
    const met = [...faults, ...modifierFaults(declared.modifiers), ...optionFaults(declared.rest)];
    const body = bodyOf(declared.rest, program);
    if (declared.what === "describe") {
      if (body) visit(body, here, met);
      return;
    }
    if (body === undefined) met.push("has no body");
    else {
      if (skipsItself(body)) met.push("skips itself");
      if (!asserts(body, program, path, helpers)) met.push("asserts nothing");
    }
    found.push({ path, titles: here, faults: met, whole: node, body });
  }

  function modifierFaults(modifiers: readonly Modifier[]): string[] {
    return modifiers
      .filter(({ name, args }) => {
        if (harmless.has(name)) return false;
        return !(/^(skipIf|runIf)$/.test(name) && args[0] && mayLack.has(textOf(args[0])));
      })
      .map(({ name }) => `is marked ${name}`);
  }

  visit(program, [], []);
  return found;
}

interface Modifier {
  readonly name: string;
  readonly args: readonly Node[];
}

interface Declaration {
  readonly what: "test" | "describe";
  readonly title: string;
  readonly modifiers: readonly Modifier[];
  readonly rest: readonly Node[];
}

/** `it("…")`, `test.each(table)("…")`, `describe.skipIf(…)("…")`; undefined for anything else. */
function declarationOf(node: Node): Declaration | undefined {
  if (node.type !== "CallExpression") return undefined;
  const [title, ...rest] = node["arguments"] as Node[];
  const text = title && titleOf(title);
  if (text === undefined) return undefined;
  const modifiers: Modifier[] = [];
  let callee = node["callee"] as Node;
  let args: readonly Node[] = [];
  for (;;) {
    if (callee.type === "CallExpression") {
      args = callee["arguments"] as Node[];
      callee = callee["callee"] as Node;
    } else if (callee.type === "TaggedTemplateExpression") {
      callee = callee["tag"] as Node;
    } else if (callee.type === "MemberExpression") {
      modifiers.push({ name: String((callee["property"] as Node)["name"]), args });
      args = [];
      callee = callee["object"] as Node;
    } else break;
  }
  const what = { it: "test", test: "test", describe: "describe" }[String(callee["name"])] as
    | Declaration["what"]
    | undefined;
  return callee.type === "Identifier" && what ? { what, title: text, modifiers, rest } : undefined;
}

function titleOf(node: Node): string | undefined {
  if (node.type === "Literal" && typeof node["value"] === "string") return node["value"];
  if (node.type !== "TemplateLiteral") return undefined;
  return (node["quasis"] as Node[]).map((part) => (part["value"] as { cooked: string }).cooked).join("…");
}

/** What keeps the code inside from running. */
const conditionOf = (node: Node): Node | undefined =>
  node.type === "IfStatement" || node.type === "ConditionalExpression"
    ? (node["test"] as Node)
    : node.type === "LogicalExpression"
      ? (node["left"] as Node)
      : undefined;

const optionFaults = (rest: readonly Node[]): string[] =>
  rest
    .filter((node) => node.type === "ObjectExpression")
    .flatMap((node) => (node["properties"] as Node[]).map((property) => String((property["key"] as Node)?.["name"])))
    .filter((name) => /^(skip|todo|fails|only)$/.test(name))
    .map((name) => `is marked ${name}`);

function bodyOf(rest: readonly Node[], program: Node): Node | undefined {
  const given = rest.find((node) => isFunction(node) || node.type === "Identifier");
  if (given === undefined || isFunction(given)) return given;
  return namesOf(program).get(String(given["name"])) ?? rest.find(isFunction);
}

/** `({ skip }) => skip()` and `(context) => context.skip()`. */
function skipsItself(body: Node): boolean {
  const params = new Set((body["params"] as Node[]).map((param) => param["name"]));
  let skips = false;
  walk(body, (node) => {
    if (node.type !== "CallExpression") return;
    const callee = node["callee"] as Node;
    if (callee.type === "Identifier") skips ||= callee["name"] === "skip";
    if (callee.type !== "MemberExpression") return;
    skips ||= (callee["property"] as Node)["name"] === "skip" && params.has((callee["object"] as Node)["name"]);
  });
  return skips;
}
