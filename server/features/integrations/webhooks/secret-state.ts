import type { Call } from "#server/http/call";
import type { SecretState } from "#server/http/implement";
import { openSecret } from "./sealed.ts";

interface Made {
  readonly id: string;
  /** Absent where the caller chose the secret. */
  readonly secret?: string | undefined;
}

/** What became of the secret that an answer from memory shows. */
export async function webhookSecretState(call: Call, { id, secret }: Made): Promise<SecretState> {
  const row = await call.db
    .selectFrom("webhooks")
    .select(["id", "secretSealed"])
    .where("id", "=", id)
    .executeTakeFirst();
  if (!row) return "gone";
  return secret === undefined || openSecret(call.services.vault, row) === secret ? "current" : "stale";
}
