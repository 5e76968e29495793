import canonicalize from "canonicalize";
import { sha256 } from "#server/platform/vault";

export interface Action {
  readonly tool: string;
  readonly input: unknown;
  /** Ids of devices. */
  readonly targets: readonly string[];
}

/** What is decided on, as one value: SHA-256 of its RFC 8785 text (docs/mcp.md, "Approval"). No tool runs scripts. */
export const digestOf = ({ tool, input, targets }: Action): string =>
  sha256(
    canonicalize({
      ...{ tool, input, targets: [...targets].sort() },
      ...{ scriptId: null, scriptVersion: null, scriptSha256: null },
    }) as string,
  );

/** The devices that a call is about: every tool takes one, or none. */
export const targetsOf = (input: object): string[] => {
  const { deviceId } = input as { deviceId?: unknown };
  return typeof deviceId === "string" ? [deviceId] : [];
};
