import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Context } from "../../context.ts";
import { configDirOf } from "../../profile/config-dir.ts";
import { readPrivateJson, withFileLock, writePrivateJson } from "../../profile/private-files.ts";
import type { ChainName } from "./report.ts";

type Times = Record<string, string>;

/** When this installation last verified each chain of a server, so that a run continues where the last one ended. */
export interface VerifiedRecord {
  /** Those that were never verified first, then the least recently verified. */
  sorted(chains: readonly ChainName[]): ChainName[];
  keep(chain: ChainName): Promise<void>;
}

/** If the record cannot be read or written, only the order is lost. */
export async function verifiedRecord({ shell, settings }: Context): Promise<VerifiedRecord> {
  const mark = createHash("sha256").update(settings.server.value).digest("hex").slice(0, 16);
  const path = join(configDirOf(shell).path, "verified", `${mark}.json`);
  const read = async (): Promise<Times> => (await readPrivateJson<Times>(path).catch(() => undefined)) ?? {};
  const times = await read();
  const at = (chain: ChainName) => String(times[keyOf(chain)] ?? "");
  return {
    sorted: (chains) => chains.toSorted((a, b) => at(a).localeCompare(at(b))),
    keep: async (chain) => {
      const now = new Date(shell.now()).toISOString();
      const write = async () => writePrivateJson(path, { ...(await read()), [keyOf(chain)]: now });
      await withFileLock(`${path}.lock`, write).catch(() => undefined);
    },
  };
}

const keyOf = ({ kind, id }: ChainName): string => `${kind} ${id}`;
