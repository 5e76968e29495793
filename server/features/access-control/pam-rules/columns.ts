import type { PamRule } from "#server/db/tables/pam-rules";

type Given = { readonly [K in keyof PamRule]?: PamRule[K] | undefined };

/** Fields as they are stored: digests in lower case, and what was not given left out. */
export function stored<F extends Given>(fields: F) {
  const { matchHash: hash, matchSignerThumbprint: print, matchNegate: negate } = fields;
  return {
    ...fields,
    ...(hash === undefined ? {} : { matchHash: hash?.toLowerCase() ?? null }),
    ...(print === undefined ? {} : { matchSignerThumbprint: print?.toLowerCase() ?? null }),
    ...(negate === undefined
      ? {}
      : { matchNegate: negate === null || negate.length === 0 ? null : [...new Set(negate)] }),
  };
}
