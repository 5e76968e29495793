import type { Awaited } from "../hand-over/hand-over-request.ts";

/** The one-time code of a sign-in. */
export const signInCode: Awaited = {
  answer: { field: "ssoCode", pattern: /^[\w-]{16,256}$/ },
  error: "ssoError",
  mostBytes: 4_096,
};
