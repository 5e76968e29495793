import { usageError } from "../../errors/cli-error.ts";

export interface Decoded {
  readonly text: string;
  /** Label of the encoding, as TextDecoder knows it. */
  readonly encoding: string;
}

/** Reads bytes as text: by byte-order mark, as UTF-16 where every other byte is zero, as UTF-8 if sound, else as cp1252. */
export function decode(bytes: Uint8Array, label?: string): Decoded {
  const encoding = label === undefined ? detect(bytes) : canonical(label);
  const text = new TextDecoder(encoding).decode(bytes);
  return { text, encoding };
}

const boms: readonly (readonly [bytes: readonly number[], encoding: string])[] = [
  [[0xef, 0xbb, 0xbf], "utf-8"],
  [[0xff, 0xfe], "utf-16le"],
  [[0xfe, 0xff], "utf-16be"],
];

function detect(bytes: Uint8Array): string {
  const marked = boms.find(([bom]) => bom.every((byte, at) => bytes[at] === byte));
  if (marked) return marked[1];
  const sample = bytes.subarray(0, 4_000);
  const zeros = (odd: 0 | 1) => sample.filter((byte, at) => byte === 0 && at % 2 === odd).length;
  if (zeros(1) > sample.length / 6) return "utf-16le";
  if (zeros(0) > sample.length / 6) return "utf-16be";
  return isUtf8(bytes) ? "utf-8" : "windows-1252";
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** `cp1252` and the like are names that people use and TextDecoder does not know. */
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
