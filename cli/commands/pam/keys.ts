import type { Shell } from "../../shell.ts";

/** Keys as they are typed, without Enter. */
export interface Keys {
  /** Hands stdin to a question, and takes it back. */
  pause(): void;
  resume(): void;
}

type RawStream = NodeJS.ReadableStream & { setRawMode?(on: boolean): unknown };

/** Ctrl-C: a terminal in raw mode sends it as a character. */
const INTERRUPT = "\u0003";

/** Listens to a terminal. `interrupted` is what Ctrl-C does, which no longer comes as a signal. */
export function listenForKeys(
  { stdin }: Pick<Shell, "stdin">,
  { typed, interrupted }: { typed(key: string): void; interrupted(): void },
): Keys {
  const stream = stdin as RawStream;
  const read = (chunk: Buffer | string) => {
    for (const key of chunk.toString())
      if (key === INTERRUPT) interrupted();
      else typed(key);
  };
  return {
    resume() {
      stream.setRawMode?.(true);
      stream.on("data", read);
      stream.resume();
    },
    pause() {
      stream.off("data", read);
      stream.setRawMode?.(false);
      stream.pause();
    },
  };
}
