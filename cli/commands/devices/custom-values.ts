import { didYouMean } from "#contract/core/suggest";
import type { CustomField } from "#sdk/generated/models/index";
import type { Context } from "../../context.ts";
import { usageError } from "../../errors/cli-error.ts";
import type { Chosen } from "./chosen.ts";

type Value = string | number | boolean;

/** The custom fields of a customer by key; its own come before those of its partner. */
export type Fields = ReadonlyMap<string, CustomField>;

/** Reads the fields of each customer once. */
export function fieldsOfOrgs(context: Context): (orgId: string) => Promise<Fields> {
  const known = new Map<string, Promise<Fields>>();
  return (orgId) => {
    const fields = known.get(orgId) ?? readFields(context, orgId);
    known.set(orgId, fields);
    return fields;
  };
}

async function readFields(context: Context, orgId: string): Promise<Fields> {
  const client = await context.client();
  const list = client.customFields.list({ query: { orgId, limit: 100 } }, { signal: context.shell.signal });
  const rows = (await list.toArray()).toSorted((a, b) => Number(a.orgId !== null) - Number(b.orgId !== null));
  return new Map(rows.map((field) => [field.fieldKey, field]));
}

/** The field of this key that the device has. */
export function fieldFor(fields: Fields, key: string, { osType, hostname }: Pick<Chosen, "osType" | "hostname">) {
  const field = fields.get(key);
  if (field === undefined)
    throw usageError(`There is no custom field ${key}${didYouMean(key, [...fields.keys()])}`, fieldsHint);
  const { deviceTypes } = field;
  if (deviceTypes !== null && !deviceTypes.includes(osType))
    throw usageError(`${key}: only devices with ${deviceTypes.join(" or ")} have it, and ${hostname} has ${osType}`);
  return field;
}

const fieldsHint = "`rmm custom-fields list` shows those that there are";

/** Reads a text as the field holds it, and says what it may be before anything is sent. */
export function customValueOf(field: CustomField, text: string): Value {
  const read = readers[field.type](text.trim(), field, text);
  if (read !== undefined) return read;
  throw usageError(`${field.fieldKey} must be ${allowed(field)}, and is ${JSON.stringify(text.slice(0, 60))}`);
}

type Reader = (trimmed: string, field: CustomField, text: string) => Value | undefined;

const within = (value: number, low: number | undefined, high: number | undefined): boolean =>
  value >= (low ?? Number.NEGATIVE_INFINITY) && value <= (high ?? Number.POSITIVE_INFINITY);

const readers: Readonly<Record<CustomField["type"], Reader>> = {
  // Its pattern is of the server's own dialect, and is judged there.
  text: (_, { options }, text) => (within([...text].length, options?.minLength, options?.maxLength) ? text : undefined),
  number: (trimmed, { options }) =>
    /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed) && within(Number(trimmed), options?.min, options?.max)
      ? Number(trimmed)
      : undefined,
  boolean: (trimmed) => ({ true: true, yes: true, false: false, no: false })[trimmed.toLowerCase()],
  date: (trimmed) =>
    /^\d{4}-\d{2}-\d{2}(T.+)?$/.test(trimmed) && !Number.isNaN(Date.parse(trimmed)) ? trimmed : undefined,
  dropdown: (trimmed, { options }) => {
    const choices = options?.choices ?? [];
    const folded = trimmed.toLowerCase();
    const found =
      choices.find(({ value }) => value === trimmed) ??
      choices.find(({ value, label }) => [value.toLowerCase(), label.toLowerCase()].includes(folded));
    return found?.value;
  },
};

function allowed({ type, options }: CustomField): string {
  const { min, max, minLength, maxLength, choices = [] } = options ?? {};
  const range = (low: number | undefined, high: number | undefined, of = "") => {
    if (low === undefined && high === undefined) return "";
    if (high === undefined) return ` of at least ${low}${of}`;
    return low === undefined ? ` of at most ${high}${of}` : ` of ${low} to ${high}${of}`;
  };
  if (type === "number") return `a number${range(min, max)}`;
  if (type === "boolean") return "true or false";
  if (type === "date") return "a date such as 2026-01-31, or a time such as 2026-01-31T09:00:00Z";
  if (type === "dropdown") return `one of ${choices.map(({ value }) => value).join(", ")}`;
  return `a text${range(minLength, maxLength, " characters")}`;
}
