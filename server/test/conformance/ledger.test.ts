import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { caseOf } from "./cases.ts";
import { SecretLedger } from "./ledger.ts";

it("the search finds secrets in the clear, hashed, and inside JSON", () => {
  const probe = new SecretLedger();
  const endpoint = caseOf("sessions.login").endpoint;
  probe.sent(
    endpoint,
    { email: "a@b.example", password: 'Secret-"quoted"-1' },
    { authorization: "Bearer abcdefghijkl" },
  );
  const answer = { status: 200, headers: new Headers(), body: { accessToken: "token-one-two", note: "token-one-two" } };
  probe.received(endpoint, answer);
  probe.show("a log", `x${JSON.stringify({ said: 'Secret-"quoted"-1' })}`);
  probe.show("a header", "zabcdefghijklz");
  probe.show("a hash", createHash("sha256").update("token-one-two").digest("hex"));
  expect(probe.leaksShown()).toEqual([
    "sessions.login result accessToken in answer 200 of sessions.login",
    "sessions.login body password in a log",
    "sessions.login header authorization in a header",
    "SHA-256 of sessions.login result accessToken in a hash",
  ]);
  expect(probe.leaksIn([["a file", "…token-one-two…"]])).toEqual(["sessions.login result accessToken in a file"]);
});
