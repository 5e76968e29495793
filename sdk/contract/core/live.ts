import { z } from "zod";
import type { ErrorCode } from "./errors.ts";
import { lenientInt, pageQuery } from "./page.ts";

/** What a call that asks an agent can answer (docs/remote.md, "Live calls"). */
export const liveErrors = [
  "NOT_FOUND",
  "SITE_ACCESS_DENIED",
  "ORG_READ_ONLY",
  "ORG_SUSPENDED",
  "DEVICE_OFFLINE",
  "AGENT_ERROR",
  "AGENT_BAD_RESPONSE",
  "AGENT_TIMEOUT",
] as const satisfies readonly ErrorCode[];

/** Pages of what an agent sends whole. */
export const livePage = () => ({
  ...pageQuery(),
  limit: lenientInt({ default: 50, min: 1, max: 500 }).describe("entries of a page"),
});

export const Done = () => z.object({ success: z.literal(true), message: z.string() });
