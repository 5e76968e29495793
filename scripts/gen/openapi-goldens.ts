import { areas } from "#contract/areas";
import { areaOfNoun } from "#contract/index";
import { buildOpenApi } from "#contract/openapi";

type Document = { paths: Record<string, Record<string, { tags: string[] }>> };

/** The OpenAPI document in pieces that a reviewer can read: the operations of each area, and all that they share. */
export function openApiGoldens(): Map<string, string> {
  const { paths, ...shared } = JSON.parse(JSON.stringify(buildOpenApi())) as Document;
  const pathsOf = (area: string) =>
    Object.fromEntries(
      Object.entries(paths).flatMap(([path, operations]) => {
        const own = Object.entries(operations).filter(([, { tags }]) => areaOfNoun(tags[0] as string) === area);
        return own.length === 0 ? [] : [[path, Object.fromEntries(own)]];
      }),
    );
  return new Map([
    ["fixtures/golden/openapi.json", text(shared)],
    ...Object.keys(areas).map(
      (area) => [`fixtures/golden/${area}/openapi.json`, text({ paths: pathsOf(area) })] as const,
    ),
  ]);
}

const text = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
