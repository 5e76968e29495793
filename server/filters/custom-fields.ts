import type { Expression, SqlBool } from "kysely";
import type { FilterCondition } from "#contract/core/filters/condition";
import { takesOperator } from "#contract/core/filters/fields";
import { readValue } from "#contract/core/filters/read-value";
import { isOneOf } from "#server/db/dialect/filter-values";
import { customValue, defaultValue, hasNoCustom, mayHaveText } from "#server/db/dialect/json-values";
import { compare, type Operand } from "./compare.ts";
import type { Context } from "./context.ts";
import { compareColumns } from "./custom-columns.ts";
import { alike, type Reading, typedDefault, undefinedField } from "./custom-readings.ts";

/** A condition on a custom field, by the definition of each organization (docs/filters.md, "Custom fields in filters"). */
export function compareCustom(at: Context, key: string, condition: FilterCondition): Expression<SqlBool> {
  const { eb, dialect } = at;
  const columns = at.columns?.get(key);
  if (columns) return compareColumns(at, columns, condition);
  const own = at.definitions.filter(({ fieldKey }) => fieldKey === key);
  const ofOrgs = own.flatMap(({ orgId }) => orgId ?? []);
  const ofPartners = own.flatMap(({ partnerId }) => partnerId ?? []);
  const inOrgs = (ids: readonly string[]) => isOneOf(eb.ref("devices.orgId"), ids, dialect, "uuid");
  const inPartners = (ids: readonly string[]) => isOneOf(eb.ref("devices.partnerId"), ids, dialect, "uuid");
  const outsideOrgs = ofOrgs.length === 0 ? [] : [eb.not(inOrgs(ofOrgs))];
  const cases = alike(own).map(({ reading, orgIds, partnerIds }) => {
    const places = [
      ...(orgIds.length === 0 ? [] : [inOrgs(orgIds)]),
      ...(partnerIds.length === 0 ? [] : [eb.and([inPartners(partnerIds), ...outsideOrgs])]),
    ];
    return eb.and([eb.or(places), compareReading(at, key, reading, condition)]);
  });
  const outside = [...outsideOrgs, ...(ofPartners.length === 0 ? [] : [eb.not(inPartners(ofPartners))])];
  return eb.or([...cases, eb.and([...outside, compareReading(at, key, undefinedField, condition)])]);
}

function compareReading(at: Context, key: string, reading: Reading, { operator, value }: FilterCondition) {
  if (!takesOperator(reading.type, operator)) return at.eb.lit(false);
  const read = readValue({ type: reading.type }, operator, value);
  if (!("value" in read)) return at.eb.lit(false);
  const compared = compare(at, operandOf(at, key, reading), { operator, value: read.value });
  const mayBe = at.dialect === "sqlite" && standsInJson(reading, operator) && mayHaveText(fieldsOf(at), String(value));
  return mayBe ? at.eb.and([mayBe, compared]) : compared;
}

const fieldsOf = ({ eb }: Context) => eb.ref("devices.customFields");

/** Whether texts that satisfy the condition have its value in them, and are stored: a default is not. */
const standsInJson = ({ type, defaultJson }: Reading, operator: FilterCondition["operator"]): boolean =>
  type === "string" && defaultJson === null && ["equals", "contains", "startsWith", "endsWith"].includes(operator);

function operandOf(at: Context, key: string, reading: Reading): Operand {
  const { type, deviceTypes } = reading;
  const { eb, dialect } = at;
  const fields = fieldsOf(at);
  const stored = customValue(fields, key, type, dialect);
  const value = typedDefault(reading);
  const kind = type === "date" ? "datetime" : type;
  if (value === undefined) return { type: kind, of: stored as Expression<never> };
  const isMissing = hasNoCustom(fields, key, dialect);
  const hasDefault =
    deviceTypes === null ? isMissing : eb.and([isMissing, eb("devices.osType", "in", deviceTypes as never)]);
  const of = eb
    .case()
    .when(hasDefault)
    .then(defaultValue(value, type, dialect))
    .else(stored)
    .end();
  return { type: kind, of: of as Expression<never> };
}
