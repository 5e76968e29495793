import { type SchemaChange, schemaText } from "../schema-change.ts";

/**
 * When the present material of a key was made: a rotation replaces it in place, and `updated_at` moves for other
 * reasons too. For existing keys this is unknown; they count as never rotated, which at worst causes one rotation too
 * many.
 */
export const migration: SchemaChange = {
  statements: schemaText(`
alter table api_keys add column key_issued_at {ts};
update api_keys set key_issued_at = created_at;
alter table enrollment_keys add column key_issued_at {ts};
update enrollment_keys set key_issued_at = created_at;
`),
};
