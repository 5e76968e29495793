import { checkProof, type InclusionProof } from "#server/audit/inclusion";
import type { Context } from "../../context.ts";
import { usageError } from "../../errors/cli-error.ts";
import { exitCode } from "../../errors/exit-codes.ts";
import { readText } from "../../input/read-text.ts";
import { isForPrograms, printResult } from "../../output/print.ts";
import { writeTo } from "../../shell.ts";

interface ProofFile {
  readonly entry: Parameters<typeof checkProof>[0];
  readonly proof: InclusionProof;
}

const said = {
  proven: ["OK", "ok", "stood in its chain when the anchor was taken"],
  broken: ["BROKEN", "chainBroken", "is not what the anchor covers, or its signature is false"],
  unsigned: ["NOT PROVABLE", "notProvable", "is covered by an anchor that nobody signed"],
  "unknown key": [
    "NOT PROVABLE",
    "notProvable",
    "is covered by an anchor whose key is none of those that --public-key and --trust gave",
  ],
} as const;

export const proofFields = ["verdict", "entryId", "action", "chainSeq", "anchorSeq", "anchoredAt", "signingKeyId"];

/** Judges what `rmm audit prove` wrote, on this machine. Exit 11 where it does not hold, 12 where no key is known. */
export async function verifyProofFile(context: Context, path: string, publicKeys: readonly string[]): Promise<number> {
  const { entry, proof } = await readProof(context, path);
  const { anchorVerifier, anchorPublicKeyOf } = await import("#server/audit/anchor-signing");
  const keys = new Map(publicKeys.map((key) => [anchorPublicKeyOf(key).keyId, anchorVerifier(key)]));
  const verdict = checkProof(entry, proof, (statement) => {
    const valid = keys.get(statement.signingKeyId ?? "");
    return valid === undefined ? "unknown key" : valid(statement) ? "valid" : "invalid";
  });
  const [word, exit, meaning] = said[verdict];
  const { anchorSeq, anchoredAt, signingKeyId } = proof.anchor;
  const facts = { verdict, entryId: entry.id, action: entry.action, chainSeq: proof.chainSeq };
  if (isForPrograms(context))
    await printResult(context, { ...facts, anchorSeq, anchoredAt, signingKeyId }, { fields: proofFields });
  else
    await writeTo(
      context.shell,
      "stdout",
      `${word}  entry ${JSON.stringify(entry.id)} ${meaning}: position ${Number(proof.chainSeq)}, anchor ${Number(anchorSeq)} of ${JSON.stringify(anchoredAt)}\n`,
    );
  return exitCode(exit);
}

async function readProof(context: Context, path: string): Promise<ProofFile> {
  const text = await readText(context.shell, path, undefined, "--proof");
  try {
    const file = JSON.parse(text) as ProofFile;
    if (typeof file.entry.id === "string" && typeof file.proof.path === "string" && file.proof.anchor) return file;
  } catch {
    // Said below.
  }
  throw usageError(`${path} is no proof of \`rmm audit prove <entry>\``);
}
