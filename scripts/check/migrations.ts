import { landedChecksums, takeChecksums } from "../gen/migration-checksums.ts";
import { misnamedMigrations } from "../gen/migrations.ts";

/** Migrations that have landed and are not what they were, names that say nothing, checksums that are not taken yet. */
export async function migrationFaults(): Promise<string[]> {
  const { checksums, faults } = takeChecksums();
  const missing = Object.keys(JSON.parse(checksums) as object).filter((name) => !(name in landedChecksums()));
  return [
    ...misnamedMigrations(),
    ...faults,
    ...missing.map((name) => `migration ${name} has no checksum yet: npm run gen`),
  ];
}
