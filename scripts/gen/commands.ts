import type { CommandSpec, NounSpec } from "#cli/manifest";
import { type AnyEndpoint, nounOf } from "#contract/core/endpoint";
import type { RefName } from "#contract/core/generated/refs";
import { areaOf } from "#contract/generated/table";
import { contract } from "#contract/index";
import { alternatives, type JsonSchema, jsonSchemaOf, secretPaths } from "#contract/json-schema";
import { flagsOf } from "./flags.ts";
import { cliKinds } from "./kinds.ts";
import { banner, kebab } from "./text.ts";

/** `cli/generated/…`: the small list of groups, and one file per noun with everything about its commands. */
export function cliManifest(): Map<string, string> {
  const files = new Map<string, string>();
  const nouns: NounSpec[] = [];
  for (const [sdkNoun, verbs] of Object.entries(contract)) {
    const { kinds = {}, summary } = nounOf(verbs);
    const [own] = Object.keys(kinds) as RefName[];
    const commands = Object.entries<AnyEndpoint>(verbs).map(([verb, endpoint]) =>
      command(sdkNoun, verb, endpoint, own),
    );
    const noun = kebab(sdkNoun);
    nouns.push({
      noun,
      area: areaOf[sdkNoun as keyof typeof areaOf],
      summary,
      verbs: commands.map(({ name, summary }) => ({ name, summary })),
    });
    files.set(`cli/generated/${noun}.ts`, moduleOf("commands", "CommandSpec", commands));
  }
  files.set("cli/generated/nouns.ts", moduleOf("nouns", "NounSpec", nouns));
  files.set("cli/generated/kinds.ts", cliKinds());
  files.set("cli/generated/load.ts", loaders(nouns.map(({ noun }) => noun)));
  return files;
}

/** Loads the commands of one noun; written out, so that every bundler and compiler understands it. */
function loaders(names: readonly string[]): string {
  return [
    banner,
    'import type { CommandSpec } from "../manifest.ts";',
    "",
    "export const load: Readonly<Record<string, () => Promise<{ commands: readonly CommandSpec[] }>>> = {",
    ...names.map((name) => `  "${name}": () => import("./${name}.ts"),`),
    "};",
    "",
  ].join("\n");
}

function moduleOf(name: string, type: string, entries: readonly object[]): string {
  return [
    banner,
    `import type { ${type} } from "../manifest.ts";`,
    "",
    `export const ${name}: readonly ${type}[] = [`,
    ...entries.map((entry) => `  ${JSON.stringify(entry)},`),
    "];",
    "",
  ].join("\n");
}

function command(sdkNoun: string, sdkVerb: string, endpoint: AnyEndpoint, own: RefName | undefined): CommandSpec {
  const kind = endpoint.makes ?? own;
  const { access, audit } = endpoint;
  const { params, query, body, result } = endpoint.schemas();
  const output = result && jsonSchemaOf(result, "output");
  const items = endpoint.paging?.items;
  const given = (params && jsonSchemaOf(params, "input").properties) ?? {};
  return {
    name: kebab(sdkVerb),
    noun: endpoint.noun,
    ...(kind === undefined ? {} : { kind }),
    sdkNoun,
    sdkVerb,
    summary: endpoint.summary,
    ...(endpoint.description === undefined ? {} : { description: endpoint.description }),
    method: endpoint.method,
    path: endpoint.path,
    params: Object.keys(given),
    refs: endpoint.refs,
    examples: examplesOf(given),
    ...(endpoint.inExample.length === 0 ? {} : { inExample: endpoint.inExample }),
    query: flagsOf(query && jsonSchemaOf(query, "input")),
    body: flagsOf(body && jsonSchemaOf(body, "input")),
    hasBody: body !== undefined,
    bodyOptional: endpoint.bodyOptional,
    fields: fieldsOf(output, items),
    columns: endpoint.columns,
    ids: endpoint.columns.filter((column) => hasFormat(output, `${items}.${column}`, "uuid")),
    times: endpoint.columns.filter((column) => hasFormat(output, `${items}.${column}`, "date-time")),
    paging: endpoint.paging ?? null,
    access: {
      kinds: access.kinds,
      scopes: access.scopes,
      permissions: access.permissions,
      ...(access.lesserPermission === undefined ? {} : { lesserPermission: access.lesserPermission }),
      ...(access.otherPermission === undefined ? {} : { otherPermission: access.otherPermission }),
      keyScopes: access.keyScopes,
      mfa: access.mfa,
      fullPartner: access.fullPartner,
      ownPartner: access.ownPartner,
    },
    loses: endpoint.loses,
    emits: endpoint.emits,
    mayEmit: endpoint.mayEmit,
    audit: typeof audit === "string" ? audit : null,
    errors: endpoint.errors,
    idempotent: endpoint.idempotent,
    transport: endpoint.transport,
    status: endpoint.status,
    secretResult: secretPaths(output),
  };
}

/** The first example of each path parameter that has one. */
const examplesOf = (params: Readonly<Record<string, JsonSchema>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(params).flatMap(([name, { examples }]) =>
      Array.isArray(examples) ? [[name, String(examples[0])]] : [],
    ),
  );

/** Whether the field at a path, `data.currentKey.lastUsedAt`, is of this format wherever it is not null. */
function hasFormat(output: JsonSchema | undefined, path: string, format: string): boolean {
  let at: JsonSchema[] = output === undefined ? [] : [output];
  for (const key of path.split("."))
    at = at.flatMap(itemsOf).flatMap(({ properties }) => {
      const field = properties?.[key];
      return field === undefined ? [] : [field];
    });
  const filled = at.flatMap(alternatives).filter(({ type }) => type !== "null");
  return filled.length > 0 && filled.every((one) => one["format"] === format);
}

/** The alternatives of a schema, of an array those of its items. */
const itemsOf = (schema: JsonSchema): JsonSchema[] =>
  alternatives(schema).flatMap((one) => (one.items === undefined ? [one] : alternatives(one.items)));

/** Top-level field names of the result, or of one item when the result is a list. */
function fieldsOf(output: JsonSchema | undefined, items: string | undefined): string[] {
  if (output === undefined) return [];
  const objects = alternatives(output);
  const described =
    items === undefined
      ? objects
      : objects.flatMap((one) => {
          const item = one.properties?.[items]?.items;
          return item === undefined ? [] : alternatives(item);
        });
  return [...new Set(described.flatMap((one) => Object.keys(one.properties ?? {})))];
}
