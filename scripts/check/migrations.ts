import { landedChecksums, takeChecksums } from "../gen/migration-checksums.ts";
import { misnamedMigrations } from "../gen/migrations.ts";

/** Landed migrations that were edited, names that do not follow the rule, and missing checksums. */
export async function migrationFaults(): Promise<string[]> {
  const { checksums, faults } = takeChecksums();
  const missing = Object.keys(JSON.parse(checksums) as object).filter((name) => !(name in landedChecksums()));
  return [
    ...misnamedMigrations(),
    ...faults,
    ...missing.map((name) => `migration ${name} has no checksum yet: npm run gen`),
  ];
}
