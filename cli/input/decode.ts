import { usageError } from "../errors/cli-error.ts";

export interface Decoded {
  readonly text: string;
  /** Label of the encoding, as TextDecoder knows it. */
  readonly encoding: string;
}

export interface Decoding {
  /** Of the file, in messages. */
  readonly name: string;
  /** What `--encoding` says. */
  readonly label?: string | undefined;
  /** Guesses cp1252 if no byte above 127 is valid UTF-8, and UTF-16 if every other byte is zero. The reader says so. */
  readonly guess?: boolean;
}

/**
 * Decodes bytes by `--encoding`, else by the byte-order mark, else as UTF-8. Invalid bytes are
 * rejected with their position, never replaced.
 */
export function decode(bytes: Uint8Array, { name, label, guess = false }: Decoding): Decoded {
  const encoding = label === undefined ? detect(bytes, guess) : canonical(label);
  const text = decoded(bytes, encoding, name, label !== undefined);
  const odd = encoding === "utf-8" || encoding.startsWith("utf-16") ? /\0/ : /[\0\u0080-\u009f]/;
  const at = text.search(odd);
  if (at < 0) return { text, encoding };
  const hex = text.charCodeAt(at).toString(16).toUpperCase().padStart(2, "0");
  const hint = zeros(bytes) > 0 ? "If it is UTF-16 without a byte-order mark: --encoding utf-16le" : undefined;
  throw usageError(`${placeOf(name, text.slice(0, at))}: no text (byte 0x${hex})`, hint);
}

const boms: readonly (readonly [bytes: readonly number[], encoding: string])[] = [
  [[0xef, 0xbb, 0xbf], "utf-8"],
  [[0xff, 0xfe], "utf-16le"],
  [[0xfe, 0xff], "utf-16be"],
];

function detect(bytes: Uint8Array, guess: boolean): string {
  const marked = boms.find(([bom]) => bom.every((byte, at) => bytes[at] === byte));
  if (marked) return marked[1];
  if (!guess) return "utf-8";
  const sample = bytes.subarray(0, 4_000);
  const zerosAt = (odd: 0 | 1) => sample.filter((byte, at) => byte === 0 && at % 2 === odd).length;
  if (zerosAt(1) > sample.length / 6) return "utf-16le";
  if (zerosAt(0) > sample.length / 6) return "utf-16be";
  return isSound(bytes, "utf-8") || someUtf8(bytes) ? "utf-8" : "windows-1252";
}

const zeros = (bytes: Uint8Array): number => bytes.filter((byte) => byte === 0).length;

/** One invalid byte in an otherwise valid UTF-8 file does not make it cp1252. */
const someUtf8 = (bytes: Uint8Array): boolean =>
  /[\u0080-\ufffc\u{10000}-\u{10ffff}]/u.test(new TextDecoder().decode(bytes));

function decoded(bytes: Uint8Array, encoding: string, name: string, named: boolean): string {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    const sound = bytes.subarray(0, soundLength(bytes, encoding));
    const before = new TextDecoder(encoding, { ignoreBOM: true }).decode(sound, { stream: true });
    // An incomplete character follows the last complete one.
    const start = encoding === "utf-8" ? Buffer.byteLength(before) : sound.length;
    const hex = bytes[start]?.toString(16).toUpperCase().padStart(2, "0");
    throw usageError(
      `${placeOf(name, before.replace("\ufeff", ""))}: not ${encoding.toUpperCase()}${hex ? ` (byte 0x${hex})` : ""}`,
      named ? undefined : "Save it as UTF-8, or name its encoding where the command has --encoding: --encoding cp1252",
    );
  }
}

/** Number of bytes before the first invalid one, by bisection: every prefix of a valid prefix is valid. */
function soundLength(bytes: Uint8Array, encoding: string): number {
  let [low, high] = [0, bytes.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (isSound(bytes.subarray(0, middle), encoding, true)) low = middle;
    else high = middle - 1;
  }
  return low;
}

function isSound(bytes: Uint8Array, encoding: string, stream = false): boolean {
  try {
    new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream });
    return true;
  } catch {
    return false;
  }
}

/** `tenants.yaml:3:14`, both from 1. */
const placeOf = (name: string, before: string): string =>
  `${name}:${before.split("\n").length}:${before.length - before.lastIndexOf("\n")}`;

/** Common names of encodings that TextDecoder does not know. */
function canonical(label: string): string {
  const name = label
    .trim()
    .toLowerCase()
    .replace(/^cp-?(\d+)$/, "windows-$1")
    .replace(/^(ansi|latin-?1)$/, "windows-1252");
  try {
    return new TextDecoder(name).encoding;
  } catch {
    throw usageError(`--encoding: ${label} is unknown`, "For example utf-8, utf-16le, cp1252, iso-8859-2, shift_jis");
  }
}
