import type { z } from "zod";
import { withoutInvisible } from "#contract/core/characters";
import { problem } from "#server/problem";
import type { Ended } from "./await-answer.ts";

const ERROR_MAX = 500;

/** What the agent says, in its shape; else the refusal that it amounts to (docs/remote.md, "Live calls"). */
export function readAnswer<T>({ status, result }: Ended, shape: z.ZodType<T>, changes: boolean): T {
  if (status === "failed") throw failure(result);
  // Never claimed it cannot have run; claimed it may have.
  if (status !== "completed")
    throw problem("AGENT_TIMEOUT", changes && status === "timeout" ? { details: { unverified: true } } : {});
  const parsed = shape.safeParse(result["data"]);
  if (parsed.success) return parsed.data;
  const paths = parsed.error.issues.slice(0, 20).map(({ path }) => path.map(String).join("."));
  throw problem("AGENT_BAD_RESPONSE", { details: { paths } });
}

function failure({ errorCode, error }: Ended["result"]) {
  const text = typeof error === "string" ? error : "";
  if (errorCode === "not_found" || /not found/i.test(text)) return problem("NOT_FOUND");
  if (errorCode === "protected") return problem("FORBIDDEN");
  const told = withoutInvisible(text).slice(0, ERROR_MAX).toWellFormed();
  return problem("AGENT_ERROR", { details: { errorCode: errorCode ?? null, error: told === "" ? null : told } });
}
