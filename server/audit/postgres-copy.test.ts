import { expect, it } from "vitest";
import { copiedTuples, TUPLE_MAX, tupleEnd } from "./postgres-copy.ts";

const HEADER = Buffer.concat([Buffer.from("PGCOPY\n\xff\r\n\0", "latin1"), Buffer.alloc(8)]);
const TRAILER = Buffer.from([0xff, 0xff]);

const field = (value: string | null) => {
  const length = Buffer.alloc(4);
  length.writeInt32BE(value === null ? -1 : value.length);
  return Buffer.concat([length, Buffer.from(value ?? "")]);
};
const tuple = (...values: (string | null)[]) => Buffer.concat([Buffer.from([0, values.length]), ...values.map(field)]);

async function* sent(chunks: readonly Buffer[]) {
  yield* chunks;
}

async function read(chunks: readonly Buffer[]): Promise<Buffer[]> {
  const tuples: Buffer[] = [];
  for await (const data of copiedTuples(sent(chunks)))
    for (let [at, end] = [0, 0]; at < data.length; at = end) {
      end = tupleEnd(data, at) ?? data.length;
      tuples.push(Buffer.from(data.subarray(at, end)));
    }
  return tuples;
}

const tuples = [tuple("first", null, ""), tuple(null), tuple("x".repeat(300)), tuple("", "last")];
const all = Buffer.concat([HEADER, ...tuples, TRAILER]);

it.each([1, 2, 3, 7, 19, 20, 64, 1_000])("tuples come whole, in chunks of %i bytes too", async (size) => {
  const chunks = Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
    all.subarray(at * size, (at + 1) * size),
  );
  expect(await read(chunks)).toEqual(tuples);
});

it("of a tuple that is too long only the begin is kept, and the next ones are whole", async () => {
  const part = Buffer.alloc(TUPLE_MAX / 4, "x");
  const length = Buffer.alloc(4);
  length.writeInt32BE(part.length * 12);
  const long = Buffer.concat([Buffer.from([0, 2]), field("id"), length]);
  const chunks = [Buffer.concat([HEADER, tuple("before"), long]), ...Array.from({ length: 12 }, () => part)];
  const [before, cut, after, ...more] = await read([...chunks, Buffer.concat([tuple("after"), TRAILER])]);
  expect([before, after, more]).toEqual([tuple("before"), tuple("after"), []]);
  expect(cut?.subarray(0, long.length)).toEqual(long);
  expect(cut?.length).toBeLessThan(TUPLE_MAX * 1.5);
});
