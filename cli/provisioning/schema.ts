import { addressParts } from "#contract/core/address";

/** The part of JSON Schema (2020-12) that the provisioning file needs and `checkSchema` reads. */
export interface Schema {
  readonly $schema?: string;
  readonly $id?: string;
  readonly title?: string;
  readonly description?: string;
  readonly type?: SchemaType | readonly SchemaType[];
  readonly const?: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  /** Second names of properties, by name: what both say must be the same. Any value of the property will do. */
  readonly aliases?: Readonly<Record<string, string>>;
  readonly items?: Schema;
  readonly pattern?: string;
  /** What to say where `pattern` does not match. */
  readonly patternMessage?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly format?: string;
  readonly examples?: readonly unknown[];
  /** A number or a truth value that stands here is text, as it is written. */
  readonly asWritten?: boolean;
}

export type SchemaType = "string" | "integer" | "boolean" | "object" | "array" | "null";

const text = (maxLength: number, description: string): Schema => ({
  type: "string",
  minLength: 1,
  maxLength,
  description,
});
const blankable = (maxLength: number, description: string): Schema => ({
  type: ["string", "null"],
  maxLength,
  description: `${description}; null or "" clears it`,
});
const free = (description: string, properties: Readonly<Record<string, Schema>> = {}): Schema => ({
  type: ["object", "null"],
  additionalProperties: true,
  properties,
  description: `${description}; replaced as a whole, null clears it`,
});
/** Of a person in a free object. */
const person = Object.fromEntries(["name", "email", "phone"].map((key) => [key, { asWritten: true }]));

const orNull = (type: SchemaType, more: Omit<Schema, "type"> = {}): Schema => ({ type: [type, "null"], ...more });
const open = (properties: Readonly<Record<string, Schema>>): Schema =>
  orNull("object", { additionalProperties: true, properties });

/** What the server types in the settings of an organization. */
const knownSettings: Readonly<Record<string, Schema>> = {
  timezone: orNull("string", { maxLength: 50 }),
  security: open({ requireMfa: orNull("boolean") }),
  enrollment: open({ maxTtlMinutes: orNull("integer", { minimum: 1, maximum: 2_147_483_647 }) }),
  billing: open({
    currencyCode: orNull("string", { pattern: "^[A-Z]{3}$", patternMessage: "must be an ISO 4217 code" }),
    taxExempt: orNull("boolean"),
    taxId: orNull("string", { maxLength: 255 }),
    billToAddress: { asWritten: true },
  }),
};

const objectOf = (
  required: readonly string[],
  properties: Readonly<Record<string, Schema>>,
  description: string,
): Schema => ({
  type: "object",
  description,
  additionalProperties: false,
  required,
  properties,
});
const listOf = (items: Schema, description: string): Schema => ({
  type: ["array", "null"],
  items,
  description: `${description}. Absent: kept as they are. Listed: the list is complete. [] or null: none`,
});
const siteName = blankable(255, "name of a site of this organization");

const date = (description: string): Schema => ({
  type: ["string", "null"],
  pattern: "^$|^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d+)?)?(Z|[+-]\\d{2}:?\\d{2}))?$",
  patternMessage: "must be a date (2026-01-31) or a date and time with offset (2026-01-31T09:00:00Z)",
  description: `${description}; null clears it`,
});

const address: Schema = {
  type: ["object", "null"],
  additionalProperties: true,
  properties: Object.fromEntries(addressParts.map((part) => [part, { asWritten: true }])),
  aliases: { state: "region" },
  description: `postal address: ${addressParts.join(", ")} and any other keys; state is read as region; replaced as a whole, null clears it`,
};

const expiryForm =
  "(\\+?[1-9]\\d{0,6}[mhdw]|\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d+)?)?(Z|[+-]\\d{2}:?\\d{2}))?)";
const expiry = (description: string): Schema => ({
  type: "string",
  pattern: `^${expiryForm}$`,
  patternMessage:
    "must be a time from the creation (30d, +30d, 12h, 90m), a date (2027-01-31) or a date and time with offset",
  description,
  examples: ["30d", "+30d", "2027-01-31", "2027-01-31T09:00:00Z"],
});

const site = objectOf(
  ["name"],
  {
    name: text(255, "identifies the site inside its organization"),
    timezone: { type: "string", maxLength: 50, description: "IANA time zone; UTC where a new site names none" },
    address,
    contact: free("whom to ask at the site, any keys", person),
    settings: free("site settings"),
  },
  "a place of the organization",
);

export const contactRoleNames = [
  "billing",
  "technical",
  "escalation",
  "admin",
  "site",
  "after_hours",
  "portal",
] as const;

const contact = objectOf(
  [],
  {
    name: blankable(255, "identifies the contact where it has no email"),
    email: { ...blankable(320, "identifies the contact"), format: "email" },
    phone: blankable(64, "telephone"),
    mobile: blankable(64, "mobile telephone"),
    title: blankable(255, "job title"),
    roles: {
      type: ["array", "null"],
      items: { type: "string", enum: contactRoleNames },
      maxItems: 32,
      description: "replaced as a whole",
    },
    isPrimary: { type: "boolean", description: "the first contact of its organization, or of its site" },
    site: siteName,
    notes: blankable(5000, "free text"),
  },
  "a person; at least one of name, email, phone, mobile",
);

const enrollmentKey = objectOf(
  ["name"],
  {
    name: text(255, "identifies the key inside its organization; an existing key is never minted again"),
    site: { ...siteName, description: "devices that enroll with the key join this site" },
    maxUsage: {
      type: ["integer", "null"],
      minimum: 1,
      maximum: 100_000,
      description: "how many devices may enroll; 1 where not given",
    },
    expiresAt: expiry("end of the key: a date, or a time that counts from the creation and is read only then"),
    expiresIn: expiry("the same as expiresAt"),
    sink: {
      type: "string",
      pattern: "^(file:.+|github-output:[A-Za-z_][A-Za-z0-9_-]*|stdout)$",
      patternMessage: "must be file:PATH, github-output:NAME or stdout",
      description: "where the secret goes when the key is minted; a relative PATH counts from the provisioning file",
      examples: ["file:secrets/hq.key", "github-output:HQ_KEY", "stdout"],
    },
  },
  "lets agents join the organization",
);

const organization = objectOf(
  ["slug"],
  {
    slug: {
      type: "string",
      pattern: "^[a-zA-Z0-9][a-zA-Z0-9_-]{0,99}$",
      patternMessage: "must be 1 to 100 of a-z, 0-9, - and _, and start with a letter or digit",
      description: "identifies the organization",
    },
    name: text(255, "needed to create the organization"),
    type: { type: "string", enum: ["customer", "internal"] },
    status: { type: "string", enum: ["active", "trial", "suspended", "churned"] },
    maxDevices: {
      type: ["integer", "null"],
      minimum: 0,
      maximum: 2_147_483_647,
      description: "most devices it may have; null: no limit",
    },
    contractStart: date("first day of the contract"),
    contractEnd: date("last day of the contract"),
    billingContact: free("whom to bill: name, email, phone and any other keys", person),
    settings: free("organization settings", knownSettings),
    sites: listOf(site, "Sites"),
    contacts: listOf(contact, "Contacts"),
    enrollmentKeys: listOf(enrollmentKey, "Enrollment keys"),
  },
  "a customer; organizations that the file does not name are left alone",
);

/** JSON Schema of the provisioning file. `rmm schema provisioning` prints it. */
export const provisioningSchema: Schema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $id: "https://rmm.example/schemas/provisioning-v1.json",
  title: "Provisioning file of rmm",
  description: "Organizations with their sites, contacts and enrollment keys, as `rmm plan` and `rmm apply` read them",
  type: "object",
  additionalProperties: false,
  required: ["apiVersion", "organizations"],
  properties: {
    apiVersion: { type: "string", const: "rmm/v1" },
    partner: text(255, "slug, name or id of the partner; needed by callers of system scope"),
    newSites: objectOf(
      [],
      { timezone: { type: "string", maxLength: 50, description: "IANA time zone" } },
      "what a site gets where it is made and says nothing of it; sites that are there keep theirs",
    ),
    organizations: { type: "array", items: organization, maxItems: 10_000 },
  },
};

const ownKeys: ReadonlySet<string> = new Set(["patternMessage", "aliases", "asWritten"]);

/** The schema as published: keys that only this program reads are left out. */
export function publishedSchema(schema: Schema = provisioningSchema): unknown {
  return JSON.parse(JSON.stringify(schema, (key, value) => (ownKeys.has(key) ? undefined : value)));
}
