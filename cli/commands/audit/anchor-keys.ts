import { createPublicKey } from "node:crypto";
import { existsSync } from "node:fs";
import { systemReason } from "#sdk/node/system-reason";
import type { ChainStatement } from "#server/audit/anchor-format";
import { usageError } from "../../errors/cli-error.ts";
import { readOwnText } from "../../input/read-text.ts";

/** The trusted keys. */
export interface AnchorKeys {
  /** False: there is no key, so signatures are not checked. */
  known: boolean;
  /** SPKI base64. */
  spki: readonly string[];
  valid(statement: ChainStatement): boolean;
}

/** Makes the verifier of any number of keys (SPKI base64). */
export async function anchorKeys(spki: readonly string[]): Promise<AnchorKeys> {
  const { anchorVerifier } = await import("#server/audit/anchor-signing");
  const verifiers = spki.map(anchorVerifier);
  return {
    known: spki.length > 0,
    spki,
    valid: (statement) => verifiers.some((valid) => valid(statement)),
  };
}

function spkiOf(key: string, refusal: () => Error): string {
  try {
    const made = key.includes("-----BEGIN")
      ? createPublicKey(key)
      : createPublicKey({ key: Buffer.from(key.trim(), "base64"), format: "der", type: "spki" });
    if (made.asymmetricKeyType !== "ed25519") throw new Error("another kind of key");
    return made.export({ format: "der", type: "spki" }).toString("base64");
  } catch {
    throw refusal();
  }
}

const keyIn = (path: string): Promise<string> =>
  readOwnText(path).catch((error: unknown) => {
    throw usageError(`--public-key: cannot read ${path}: ${systemReason(error)}`);
  });

/** `--trust`: keys of files, one a line, or PEM; a file without any is refused, since it would trust none. */
export async function keysIn(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    paths.map(async (path) => {
      const text = await readOwnText(path).catch((error: unknown) => {
        throw usageError(`--trust: cannot read ${path}: ${systemReason(error)}`);
      });
      const keys = text.includes("-----BEGIN")
        ? (text.match(/-----BEGIN[^-]*-----[\s\S]*?-----END[^-]*-----/g) ?? [])
        : text
            .split("\n")
            .map((line) => line.trim())
            .filter((line) => line !== "" && !line.startsWith("#"));
      if (keys.length === 0) throw usageError(`--trust: ${path} holds no key`);
      const forms = "A file has a key a line, base64 of its SPKI, or keys in PEM";
      return keys.map((key) =>
        spkiOf(key, () => usageError(`--trust: ${path} holds what is no Ed25519 public key`, forms)),
      );
    }),
  );
  return found.flat();
}

const forms = "Base64 of its SPKI, or a file with that or with PEM";

/** `--public-key`: the base64 text that `publicKeys` of `GET /audit-logs/anchors` holds, or a file with it or with PEM. */
export async function readPublicKeys(given: readonly string[]): Promise<string[]> {
  return Promise.all(
    given.map(async (text) => {
      const key = existsSync(text) ? await keyIn(text) : text;
      const where = existsSync(text) ? "" : `; there is no file ${text}`;
      return spkiOf(key, () => usageError("--public-key is no Ed25519 public key", `${forms}${where}`));
    }),
  );
}
