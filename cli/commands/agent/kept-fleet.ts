import type { DeviceRecord } from "#fixtures/simulators/agent/device";
import { PrivateFileError } from "#sdk/node/private-file-error";
import { readPrivateJson, writePrivateJson } from "#sdk/node/private-json";
import { CliError, usageError } from "../../errors/cli-error.ts";

const SAVE_EVERY_MS = 5_000;

interface Kept {
  version: 1;
  server: string;
  seed: string;
  devices: readonly DeviceRecord[];
}

/** The devices in the file of `--state`; none where there is no file yet. */
export async function readFleet(path: string, server: string, seed: string): Promise<readonly DeviceRecord[]> {
  const kept = await told(() => readPrivateJson<Kept>(path));
  if (kept === undefined) return [];
  if (kept.version !== 1 || !Array.isArray(kept.devices)) throw usageError(`${path} is not a file of --state`);
  if (kept.server !== server || kept.seed !== seed)
    throw usageError(`${path} has devices of ${kept.server}, seed ${kept.seed}`, "Choose another file for this fleet");
  return kept.devices;
}

/** Writes the file every few seconds while devices change. */
export class FleetFile {
  readonly #path: string;
  readonly #kept: Omit<Kept, "devices">;
  #devices: readonly DeviceRecord[] | undefined;
  #writing: Promise<void> = Promise.resolve();
  readonly #timer: NodeJS.Timeout;
  /** Aborts when the file cannot be written. */
  readonly #broken = new AbortController();

  constructor(path: string, server: string, seed: string) {
    this.#path = path;
    this.#kept = { version: 1, server, seed };
    this.#timer = setInterval(() => this.#write(), SAVE_EVERY_MS).unref();
  }

  get broken(): AbortSignal {
    return this.#broken.signal;
  }

  /** The first call writes at once: who asks to be let in must be known before. */
  keep(devices: readonly DeviceRecord[]): void {
    const first = this.#devices === undefined;
    this.#devices = devices;
    if (first) this.#write();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#write();
    await this.#writing;
  }

  #write(): void {
    const devices = this.#devices;
    if (devices === undefined || this.broken.aborted) return;
    this.#writing = this.#writing
      .then(() => told(() => writePrivateJson(this.#path, { ...this.#kept, devices })))
      .catch((error: unknown) => this.#broken.abort(error));
  }
}

async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PrivateFileError)) throw error;
    throw new CliError(error.message, { exit: "failure", code: "STATE_UNUSABLE", cause: error });
  }
}
