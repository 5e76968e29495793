import type { NewNoun, NounNames } from "./names.ts";

export const migrationFile = ({ table }: NounNames): string => `\
import { type SchemaChange, schemaText } from "../schema-change.ts";

export const migration: SchemaChange = {
  statements: schemaText(\`
create table ${table} (
  id {uuid} primary key,
  org_id {uuid} not null references organizations (id),
  name text not null,
  created_at {ts} not null,
  updated_at {ts} not null,
  unique (org_id, id)
) {strict};
create index ${table}_by_org on ${table} (org_id, created_at, id);
\`),
};
`;

export const tableRow = ({ plural }: NounNames): string => `\
export interface ${plural}Table {
  id: Fixed<string>;
  orgId: Fixed<string>;
  name: string;
  createdAt: Fixed<string>;
  updatedAt: string;
}

`;

export const tableEntry = ({ key, noun }: NounNames, { area }: NewNoun): string =>
  `  ${key}: { owner: "org", writtenBy: "${area}/${noun}" },\n`;

export const fixtureFile = ({ key, noun, one, thing, words }: NounNames, { area }: NewNoun): string => `\
import type { ${key} } from "#contract/resources/${area}/${noun}";
import { type ExamplesOf, noRequest } from "../../example.ts";
import { type KnownOf, tenantRows } from "../../tenant-rows.ts";
import { rows as organizations } from "../tenancy/organizations.ts";

export const rows = tenantRows({
  after: [organizations],
  places: { ${one}Id: "whole organization" },
  refs: { "${thing}": "${one}Id" },
  make: ({ orgId }, { id, stamps }) => {
    const ${one}Id = id();
    return { own: { ${one}Id }, rows: { ${key}: [{ id: ${one}Id, orgId, name: "First ${words}", ...stamps }] } };
  },
});

export const examples: ExamplesOf<typeof ${key}, KnownOf<typeof rows>> = {
  list: noRequest,
  create: (t) => ({ body: { orgId: t.orgId, name: "Second ${words}" } }),
  get: (t) => ({ params: { id: t.${one}Id } }),
  update: (t) => ({ params: { id: t.${one}Id }, body: { name: "Renamed ${words}" } }),
  remove: (t) => ({ params: { id: t.${one}Id } }),
};
`;
