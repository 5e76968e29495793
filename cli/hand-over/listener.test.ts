import { request } from "node:http";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { signInCode } from "../single-sign-on/sign-in-code.ts";
import { type Listener, openListener } from "./listener.ts";

const CODE = "c".repeat(48);
const PAGE = "https://rmm.example/api/v1/sso/cli";
const never = new AbortController().signal;
let listener: Listener;
beforeEach(async () => {
  listener = await openListener(PAGE, signInCode);
});
afterEach(() => listener.close());

interface Sent {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string;
  port?: number;
}

/** A request as it stands, with headers that `fetch` would not let through. */
function send({ method = "POST", path = "/", headers = {}, body = "", port = listener.port }: Sent) {
  const all = { "content-type": "application/x-www-form-urlencoded", ...headers };
  return new Promise<{ status: number; body: string; location: string | undefined; headers: object }>(
    (resolve, reject) => {
      const sent = request({ host: "127.0.0.1", port, method, path, headers: all }, async (response) => {
        let text = "";
        for await (const chunk of response) text += String(chunk);
        const { statusCode = 0, headers } = response;
        resolve({ status: statusCode, body: text, location: headers.location, headers });
      });
      sent.once("error", reject).end(body);
    },
  );
}

const form = (fields: Record<string, string> | string[][]) => new URLSearchParams(fields).toString();
const right = (more: Record<string, string> = {}) => form({ state: listener.state, ssoCode: CODE, ...more });

/** What is refused leaves the sign-in waiting: the right hand-over still gets through. */
async function stillWaits(): Promise<void> {
  const waiting = listener.wait(5_000, never);
  const sent = send({ body: right() });
  expect(await waiting).toEqual({ answer: CODE });
  await listener.answer(true);
  expect((await sent).status).toBe(303);
}

describe("the hand-over", () => {
  it("is accepted as a browser sends it, and the browser is redirected to the page with the result", async () => {
    for (const [worked, done] of [
      [true, "1"],
      [false, "0"],
    ] as const) {
      const waiting = listener.wait(5_000, never);
      const headers = { origin: "null", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
      const sent = send({ headers: { ...headers, "sec-fetch-site": "cross-site" }, body: right() });
      expect(await waiting).toEqual({ answer: CODE });
      await listener.answer(worked);
      const { status, location, body } = await sent;
      expect([status, location, body]).toEqual([303, `${PAGE}?done=${done}`, ""]);
      await listener.close();
      listener = await openListener(PAGE, signInCode);
    }
  });

  it("may say why there is no code", async () => {
    const waiting = listener.wait(5_000, never);
    const sent = send({ body: form({ state: listener.state, ssoError: "domain_not_allowed" }) });
    expect(await waiting).toEqual({ error: "domain_not_allowed" });
    await listener.answer(false);
    expect((await sent).location).toBe(`${PAGE}?done=0`);
  });

  it("is waited for on this machine's own address alone, with a state of its own", async () => {
    const other = await openListener(PAGE, signInCode);
    expect(other.state).not.toBe(listener.state);
    expect(listener.state).toMatch(/^[\w-]{43}$/);
    expect(listener.port).toBeGreaterThanOrEqual(1_024);
    await other.close();
    const outside = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    for (const { address } of outside.filter(({ address }) => address !== "127.0.0.1")) {
      const reached = await new Promise((resolve) => {
        const socket = connect(listener.port, address, () => resolve(address)).once("error", () => resolve(undefined));
        setTimeout(() => socket.destroy(), 1_000).unref();
        socket.once("close", () => resolve(undefined));
      });
      expect(reached).toBeUndefined();
    }
  });

  it.each<[string, () => Sent, number]>([
    ["another state", () => ({ body: form({ state: "s".repeat(43), ssoCode: CODE }) }), 403],
    ["the start of the state", () => ({ body: form({ state: listener.state.slice(0, 42), ssoCode: CODE }) }), 403],
    ["no state", () => ({ body: form({ ssoCode: CODE }) }), 403],
    ["an empty body", () => ({ body: "" }), 403],
    [
      "two states, one of them right",
      () => ({
        body: form([
          ["state", listener.state],
          ["state", "x"],
          ["ssoCode", CODE],
        ]),
      }),
      403,
    ],
    ["no code", () => ({ body: form({ state: listener.state }) }), 400],
    ["an empty code", () => ({ body: right({ ssoCode: "" }) }), 400],
    ["a code that is none", () => ({ body: right({ ssoCode: "../../etc/passwd and more" }) }), 400],
    ["a code and an error", () => ({ body: right({ ssoError: "sso_error" }) }), 400],
    ["an error that is none", () => ({ body: form({ state: listener.state, ssoError: "\u001b[31mred" }) }), 400],
    ["a field too many", () => ({ body: right({ more: "1" }) }), 400],
    ["the name of another host", () => ({ headers: { host: "evil.example" }, body: right() }), 421],
    ["a name for this machine", () => ({ headers: { host: `localhost:${listener.port}` }, body: right() }), 421],
    ["a host without the port", () => ({ headers: { host: "127.0.0.1" }, body: right() }), 421],
    ["GET without a code", () => ({ method: "GET" }), 405],
    ["GET with everything in the address", () => ({ method: "GET", path: `/?${right()}` }), 404],
    ["the question of a script, whether it may", () => ({ method: "OPTIONS" }), 405],
    ["another path", () => ({ path: "/callback", body: right() }), 404],
    ["an address that leads elsewhere", () => ({ path: `http://127.0.0.1:${listener.port}/`, body: right() }), 404],
    ["JSON", () => ({ headers: { "content-type": "application/json" }, body: "{}" }), 415],
    ["more than a form can be", () => ({ body: right({ ssoCode: "c".repeat(5_000) }) }), 413],
    [
      "more than a form can be, its length not told",
      () => ({ headers: { "transfer-encoding": "chunked" }, body: right({ ssoCode: "c".repeat(5_000) }) }),
      413,
    ],
    ["a head that is too long", () => ({ headers: { cookie: "c".repeat(20_000) }, body: right() }), 431],
  ])("is not %s", async (_, made, status) => {
    const answer = await send(made());
    expect(answer.status).toBe(status);
    expect(answer.location).toBeUndefined();
    expect(JSON.stringify(answer)).not.toContain(listener.state);
    expect(answer.headers).not.toHaveProperty("access-control-allow-origin");
    await stillWaits();
  });

  it("is accepted once: of several right ones the first counts, and later ones are refused with that reason", async () => {
    const waiting = listener.wait(5_000, never);
    const first = send({ body: right() });
    expect(await waiting).toEqual({ answer: CODE });
    const second = await send({ body: form({ state: listener.state, ssoCode: "d".repeat(48) }) });
    expect(second.status).toBe(410);
    expect(await listener.wait(5_000, never)).toEqual({ answer: CODE });
    await listener.answer(true);
    expect((await first).status).toBe(303);
  });

  it("does not wait for a request that breaks off or never ends", async () => {
    for (const head of ["POST / HTTP/1.1\r\n", `POST / HTTP/1.1\r\nHost: 127.0.0.1:${listener.port}\r\n\r\nsta`]) {
      const socket = connect(listener.port, "127.0.0.1");
      await new Promise<void>((resolve) => socket.write(head, () => resolve()));
      socket.destroy();
    }
    const hanging = connect(listener.port, "127.0.0.1").on("error", () => undefined);
    hanging.write("POST / HTTP/1.1\r\n");
    await stillWaits();
    await listener.close();
  });
});

describe("waiting", () => {
  it("ends after its time, and when it is interrupted", async () => {
    expect(await listener.wait(20, never)).toBeUndefined();
    const stop = new AbortController();
    const waiting = listener.wait(60_000, stop.signal);
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
    await expect(listener.wait(60_000, stop.signal)).rejects.toMatchObject({ name: "AbortError" });
  });

  it("stops listening once it is closed", async () => {
    await listener.close();
    await expect(send({ body: right() })).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });
});
