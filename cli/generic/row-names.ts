import type { RefName } from "#contract/core/refs";

interface RowName {
  readonly one: string;
  readonly many: string;
  /** Shown in examples. */
  readonly sample?: string;
}

/** What the command line accepts in place of an id, and looks up. */
const named: RowName = { one: "name or id", many: "names or ids" };

const callable: Partial<Record<RefName, RowName>> = {
  user: { one: "email, name or id", many: "emails, names or ids", sample: "ana@contoso.example" },
  "api-key": { ...named, sample: "backup-job" },
  "enrollment-key": { ...named, sample: "hq-laptops" },
  "service-principal": { ...named, sample: "ci" },
  "partner-service-principal": { ...named, sample: "rollout" },
  "partner-key": { ...named, sample: "pipeline" },
  device: { one: "hostname, display name or id", many: "hostnames, display names or ids", sample: "reception-pc" },
  "custom-field": { one: "key, name or id", many: "keys, names or ids", sample: "rack_unit" },
  webhook: { ...named, sample: "ticketing" },
  "sso-provider": { ...named, sample: '"Contoso Entra ID"' },
  "sso-domain": { one: "domain or id", many: "domains or ids", sample: "contoso.example" },
  contact: { one: "email or name (with --org), or id", many: "emails or names (with --org), or ids" },
  organization: { one: "slug, name or id", many: "slugs, names or ids", sample: "contoso-dental" },
  partner: { one: "slug, name or id", many: "slugs, names or ids", sample: "summit" },
  site: { one: "name or id", many: "names or ids", sample: "HQ" },
  role: { ...named, sample: '"Org Admin"' },
};

/** The command that lists rows of a kind that the noun's `list` does not have. */
const listedBy: Partial<Record<RefName, string>> = { "webhook-delivery": "webhooks deliveries" };

export const listCommandOf = (ref: RefName): string | undefined => listedBy[ref];
export const calledOne = (ref: RefName): string | undefined => callable[ref]?.one;
export const calledMany = (ref: RefName): string | undefined => callable[ref]?.many;
export const sampleOf = (ref: RefName): string | undefined => callable[ref]?.sample;
