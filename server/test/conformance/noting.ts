import type { Kysely, KyselyPlugin } from "kysely";
import type { Database } from "#server/db/tables";

/** The same handle, which calls `onWrite` for every statement that is not a plain read. */
export function noting(db: Kysely<Database>, onWrite: () => void): Kysely<Database> {
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      if (node.kind !== "SelectQueryNode") onWrite();
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  return db.withPlugin(plugin);
}
