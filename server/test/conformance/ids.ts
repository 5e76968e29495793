import type { AnyEndpoint } from "#contract/core/endpoint";
import { alternatives, type JsonSchema, jsonSchemaOf } from "#contract/json-schema";
import type { Tenant } from "#fixtures/world";

/** A field of a query or body that names rows. */
export interface IdField {
  at: "query" | "body";
  name: string;
  /** Several ids: as a JSON array, or comma-separated in a query. */
  many: boolean;
  row: keyof Tenant;
}

/** Which row of a tenant a field of this name means. */
const rows: Readonly<Record<string, keyof Tenant>> = {
  orgId: "orgId",
  organizationId: "orgId",
  orgIds: "orgId",
  orderedIds: "orgId",
  partnerId: "partnerId",
  siteId: "siteId",
  siteIds: "siteId",
  deviceId: "deviceId",
  deviceIds: "deviceId",
  userId: "memberId",
  keyId: "apiKeyId",
};

/** Fields of ids that no tenant of the fixtures has a row for, and why. */
export const withoutRows: Readonly<Record<string, string>> = {
  roleId: "examples use built-in roles, which every tenant has",
  defaultRoleId: "examples use built-in roles, which every tenant has",
  groupIds: "there are no groups yet",
  serviceManagementPsaConnectionId: "there are no PSA connections yet",
};

/** Every id field of an endpoint's query and body; one whose row is unknown throws: no sweep would turn it. */
export function idFields(endpoint: AnyEndpoint): IdField[] {
  const { query, body } = endpoint.schemas();
  return (["query", "body"] as const).flatMap((at) => {
    const schema = at === "query" ? query : body;
    const described = schema && jsonSchemaOf(schema, "input");
    return Object.entries(described?.properties ?? {}).flatMap(([name, field]) => {
      const kind = kindOf(field);
      if (kind === undefined || name in withoutRows) return [];
      const row = rows[name];
      if (row === undefined)
        throw new Error(`${endpoint.noun}.${endpoint.verb}: no row is known for the id in ${name}`);
      return [{ at, name, many: kind === "many", row }];
    });
  });
}

function kindOf(field: JsonSchema): "one" | "many" | undefined {
  const options = alternatives(field);
  if (options.some(({ format }) => format === "uuid")) return "one";
  const isList = ({ items, description }: JsonSchema) =>
    (items !== undefined && alternatives(items).some(({ format }) => format === "uuid")) ||
    /comma-separated uuids/.test(description ?? "");
  return options.some(isList) || isList(field) ? "many" : undefined;
}

/** The value of a field that names this row. */
export const valueFor = (field: IdField, id: string): unknown => (field.many && field.at === "body" ? [id] : id);
