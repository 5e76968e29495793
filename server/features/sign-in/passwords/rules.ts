import type { Limit } from "#server/access/rate-limit";

/** Every request counts; over the limit nothing is sent and the answer stays the same (docs/sign-in.md, "Guessing"). */
export const forgotPerAddress: Limit = { name: "forgot-password", max: 3, windowSeconds: 3_600 };
