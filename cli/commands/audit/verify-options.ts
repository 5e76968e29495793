import type { RequiredAnchor } from "./judge.ts";

/** Flags of `rmm audit verify`. */
export interface VerifyOptions {
  partner?: string;
  system?: boolean;
  bundle?: string;
  /** How messages name the bundle: nothing where it is the argument. */
  bundleFlag?: string;
  proof?: string;
  anchorFile?: string;
  /** As `anchorFile`, of which one anchor at least must verify. */
  sinceAnchor?: string;
  publicKey?: string[];
  /** Files of keys. */
  trust?: string[];
  requireAnchor?: RequiredAnchor;
}
