import type { RequiredAnchor } from "./judge.ts";

/** Flags of `rmm audit verify`. */
export interface VerifyOptions {
  partner?: string;
  system?: boolean;
  bundle?: string;
  proof?: string;
  anchorFile?: string;
  publicKey: string[];
  /** Files of keys. */
  trust: string[];
  requireAnchor?: RequiredAnchor;
}
