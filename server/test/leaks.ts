import { ownership, type TableName } from "#server/db/tables";
import type { TestServer } from "./harness.ts";

/** Columns of the database that contain any of these texts, as a stolen dump would. */
export async function leaksInDatabase(server: TestServer, secrets: Record<string, string>): Promise<string[]> {
  const leaks: string[] = [];
  for (const table of Object.keys(ownership) as TableName[]) {
    const text = JSON.stringify(await server.db.selectFrom(table).selectAll().execute());
    for (const [name, secret] of Object.entries(secrets)) {
      if (text.includes(secret)) leaks.push(`${name} in ${table}`);
    }
  }
  return leaks;
}
