import type { SchemaChange } from "../schema-change.ts";

/**
 * Postgres: a tenant's connection makes no token or key of a device count again or longer by what stands beside it. A
 * device that is out of service keeps void tokens, and one that has enrolled its used key: the status alone keeps them
 * from counting. Who does not know since when tokens are there renews none, and a key without its secret is easier to use.
 */
export const migration: SchemaChange = {
  statements: (dialect) => (dialect === "postgres" ? postgres : []),
};

const again = [
  "(old.status = 'decommissioned' and new.status <> 'decommissioned')",
  "(new.status = 'pending' and old.status <> 'pending')",
];
const longer = ["tokens_issued_at", "enrollment_secret_hash"];
const changed = longer.map((column) => `new.${column} is distinct from old.${column}`);

const postgres = [
  `create trigger devices_token_again before update of status, ${longer.join(", ")} on public.devices
   for each row when (${[...again, ...changed].join(" or ")}) execute function public.rmm_tokens_are_the_servers()`,
  "alter table public.devices enable always trigger devices_token_again",
];
