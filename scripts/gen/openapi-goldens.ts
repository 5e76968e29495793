import { type Area, areas } from "#contract/areas";
import { eventsByArea } from "#contract/core/events";
import { areaOfNoun } from "#contract/index";
import { buildOpenApi } from "#contract/openapi";

type Parts = Record<string, Record<string, unknown>>;

/** What an area has of the document: operations, tags, events, and the shapes that no other area uses. */
export interface OpenApiPart {
  readonly tags?: readonly { readonly name: string }[];
  readonly paths?: Readonly<Record<string, object>>;
  readonly webhooks?: Readonly<Record<string, object>>;
  readonly components?: { readonly schemas: Readonly<Record<string, object>> } & Readonly<Record<string, object>>;
}

/**
 * The OpenAPI document in pieces that a reviewer can read: each area's, and what several share. None holds what another
 * holds; `server/test/golden/openapi.test.ts` puts them together.
 */
export function openApiGoldens(): Map<string, string> {
  const { tags, paths, webhooks, components, ...head } = JSON.parse(JSON.stringify(buildOpenApi())) as {
    tags: { name: string }[];
    paths: Parts;
    webhooks: Record<string, object>;
    components: { schemas: Record<string, object> };
  };
  const parts = (Object.keys(areas) as Area[]).map((area) => {
    const own = ({ name }: { name: string }) => areaOfNoun(name) === area;
    const operations = (path: string) =>
      Object.fromEntries(
        Object.entries(paths[path] ?? {}).filter(([, made]) =>
          own({ name: (made as { tags: string[] }).tags[0] as string }),
        ),
      );
    const kinds = Object.keys((eventsByArea as Partial<Record<Area, object>>)[area] ?? {});
    const part = {
      tags: tags.filter(own),
      paths: filled(Object.keys(paths).map((path) => [path, operations(path)] as const)),
      webhooks: Object.fromEntries(kinds.map((kind) => [kind, webhooks[kind]])),
    };
    return { area, part, uses: usedBy(part, components.schemas) };
  });
  const usersOf = (shape: string) => parts.filter(({ uses }) => uses.has(shape));
  const shapes = (keeps: (users: readonly { area: Area }[]) => boolean) =>
    Object.fromEntries(Object.entries(components.schemas).filter(([shape]) => keeps(usersOf(shape))));
  const shared = { ...head, components: { ...components, schemas: shapes((users) => users.length !== 1) } };
  return new Map([
    ["fixtures/golden/openapi-shared.json", text(shared)],
    ...parts.map(({ area, part }) => {
      const schemas = shapes((users) => users.length === 1 && users[0]?.area === area);
      return [`fixtures/golden/${area}/openapi.json`, text({ ...part, components: { schemas } })] as const;
    }),
  ]);
}

const filled = (entries: readonly (readonly [string, object])[]) =>
  Object.fromEntries(entries.filter(([, value]) => Object.keys(value).length > 0));

/** Names of the shapes that a part refers to, and of those that they refer to. */
function usedBy(part: object, schemas: Readonly<Record<string, object>>): ReadonlySet<string> {
  const used = new Set<string>();
  const look = (at: object): void => {
    for (const [, shape = ""] of JSON.stringify(at).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (used.has(shape)) continue;
      used.add(shape);
      look(schemas[shape] ?? {});
    }
  };
  look(part);
  return used;
}

const text = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
