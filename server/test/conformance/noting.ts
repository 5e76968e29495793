import type { Kysely, KyselyPlugin } from "kysely";
import type { Database } from "#server/db/tables";

/** The same handle; `onWrite` is told of every statement that is no plain read. */
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
