import { expect, it } from "vitest";
import type { Claim } from "#server/features/fleet/device-commands/claim-commands";
import { deliver } from "./deliver.ts";
import type { Outgoing } from "./frames.ts";
import { claimAll } from "./work.ts";

const claims = (...ids: string[]): Claim[] =>
  ids.map((id) => ({ id, type: "lock", payload: {}, sentAt: "2026-01-01", waitsUntil: "2026-01-02" }));

/** A line that takes so many frames before its peer stops reading, or leaves. */
function lineOf(takes: number, then: "stops" | "leaves") {
  const sent: Outgoing[] = [];
  return {
    sent,
    get open() {
      return then === "stops" || sent.length < takes;
    },
    get idle() {
      return then === "leaves" || sent.length < takes;
    },
    send: (frame: Outgoing) => void sent.push(frame),
  };
}

async function delivered(line: ReturnType<typeof lineOf>, batches: Claim[][]) {
  const ran: (string | boolean)[] = [];
  const heldBack = await deliver(line, async <R>(work: object, gone?: AbortSignal) => {
    ran.push(work === claimAll ? "claim" : "put back", gone?.aborted ?? "with the line");
    return (work === claimAll ? batches.shift() : undefined) as R;
  });
  return { heldBack, ran, sent: line.sent.map(({ id }) => id) };
}

it("sends all that waits, batch after batch", async () => {
  const ten = claims(..."abcdefghij");
  expect(await delivered(lineOf(99, "stops"), [ten, claims("k")])).toEqual({
    heldBack: false,
    ran: ["claim", "with the line", "claim", "with the line"],
    sent: [..."abcdefghijk"],
  });
});

it.each(["stops", "leaves"] as const)(
  "puts back what a peer that %s has not been written, and claims no more",
  async (then) => {
    expect(await delivered(lineOf(2, then), [claims("a", "b", "c"), claims("d")])).toEqual({
      heldBack: true,
      ran: ["claim", "with the line", "put back", false],
      sent: ["a", "b"],
    });
  },
);

it("claims nothing for a line that has ended, or whose peer does not read", async () => {
  expect(await delivered(lineOf(0, "leaves"), [claims("a")])).toEqual({ heldBack: false, ran: [], sent: [] });
  expect(await delivered(lineOf(0, "stops"), [claims("a")])).toEqual({ heldBack: true, ran: [], sent: [] });
});
