import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromiumPath, openChromium } from "#fixtures/chromium";
import { seedPartner } from "../../../test/harness.ts";
import { type SsoTest, startSsoTest } from "../../../test/sso.ts";

const STATE = "s".repeat(43);

/** A member of an organization with a provider. */
async function seeded(): Promise<{ sso: SsoTest; orgId: string }> {
  const sso = await startSsoTest("sqlite");
  const orgId = (await seedPartner(sso.server, "acme", ["harbor"])).orgIds[0] as string;
  await sso.seedProvider({ orgId });
  await sso.server.signIn({ role: "Org Admin", orgId, email: "pat@harbor.example", mfa: false });
  return { sso, orgId };
}

describe("the page that hands over to the command line", () => {
  let sso: SsoTest;
  let orgId: string;
  beforeAll(async () => {
    ({ sso, orgId } = await seeded());
  });
  afterAll(() => sso?.stop());

  it("lets nothing run but its own script, and its form go nowhere but to the port", async () => {
    const policy = async (query: string) =>
      (await sso.server.request("GET", `/sso/cli${query}`)).headers.get("content-security-policy") as string;
    const wanted = await policy(`?port=49152&state=${STATE}`);
    expect(wanted).toMatch(
      /^default-src 'none'; script-src 'sha256-[\w+/]{43}='; style-src 'sha256-[\w+/]{43}='; base-uri 'none'; frame-ancestors 'none'; form-action 'self' http:\/\/127\.0\.0\.1:49152$/,
    );
    for (const port of [
      "",
      "80",
      "1023",
      "65536",
      "4915a",
      "49152@evil.example",
      "49152%20https://evil.example",
      "-1",
      "4e4",
    ])
      expect(await policy(`?port=${port}&state=${STATE}`), port).toMatch(/; form-action 'none'$/);
    const { status, headers, body } = await sso.server.request("GET", "/sso/cli");
    expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect([headers.get("referrer-policy"), headers.get("cache-control")]).toEqual(["no-referrer", "no-store"]);
    expect(body).not.toMatch(/https?:\/\/(?!127\.0\.0\.1:")/);
  });

  it("gets a refusal in its fragment, because the command line waits for it", async () => {
    sso.idp.person = { subject: "stranger", email: "stranger@harbor.example", emailVerified: true };
    const page = `/api/v1/sso/cli?port=49152&state=${STATE}`;
    const login = `/sso/login/${orgId}?redirect=${encodeURIComponent(page)}`;
    expect(await sso.browser().signIn(login)).toBe(`${page}#ssoError=user_not_found`);
    sso.idp.person = null;
    expect(await sso.browser().signIn(login)).toBe(`${page}#ssoError=sso_error`);
  });
});

describe.skipIf(chromiumPath === undefined)("the page in a browser", () => {
  let sso: SsoTest;
  let orgId: string;
  let browser: Browser;
  let listener: Server;
  let received: { request: IncomingMessage; form: URLSearchParams }[];
  let port: number;

  beforeAll(async () => {
    ({ sso, orgId } = await seeded());
    browser = await openChromium(sso.idp.certificate);
    // As the command line does it: takes the form, and sends the browser back to a page without the code.
    listener = createServer((request, response) => {
      let text = "";
      request.on("data", (chunk) => {
        text += chunk;
      });
      request.on("end", () => {
        const form = new URLSearchParams(text);
        if (request.method === "POST") received.push({ request, form });
        const done = form.has("ssoCode") ? 1 : 0;
        response.writeHead(303, { Location: `${sso.server.url}/api/v1/sso/cli?done=${done}` }).end();
      });
    });
    received = [];
    await new Promise<void>((resolve) => void listener.listen(0, "127.0.0.1", resolve));
    port = (listener.address() as AddressInfo).port;
  });
  afterAll(async () => {
    await browser?.close();
    await new Promise((resolve) => listener.close(resolve));
    await sso?.stop();
  });

  const signInWith = async (query: string) => {
    received = [];
    const page = await (await browser.newContext()).newPage();
    const addresses: string[] = [];
    page.on("framenavigated", (frame) => addresses.push(frame.url()));
    const login = `${sso.server.url}/api/v1/sso/login/${orgId}`;
    await page.goto(`${login}?redirect=${encodeURIComponent(`/api/v1/sso/cli?${query}`)}`);
    return { page, addresses, text: page.getByRole("status") };
  };
  const shows = (text: Awaited<ReturnType<typeof signInWith>>["text"], wanted: RegExp) =>
    expect.poll(() => text.textContent(), { timeout: 10_000 }).toMatch(wanted);

  it("signs in through the real provider and hands over code and state in a form's body, once", async () => {
    sso.idp.person = { subject: "pat", email: "pat@harbor.example", emailVerified: true };
    const { page, addresses, text } = await signInWith(`port=${port}&state=${STATE}`);
    await shows(text, /^You are signed in\. You can close this window\.$/);
    expect(received.length).toBe(1);
    const { request, form } = received[0] as (typeof received)[number];
    expect([request.url, request.headers.referer, form.get("state")]).toEqual(["/", undefined, STATE]);
    const code = form.get("ssoCode") as string;
    expect(page.url()).toBe(`${sso.server.url}/api/v1/sso/cli?done=1`);
    expect(addresses.filter((address) => address.startsWith(`http://127.0.0.1:${port}`)).join()).not.toContain(code);
    const pair = await sso.server.request("POST", "/sso/exchange", { body: { code } });
    expect(pair.status).toBe(200);
    await page.goBack().catch(() => undefined);
    expect(received.length).toBe(1);
  });

  it("hands a refusal over", async () => {
    sso.idp.person = { subject: "stranger", email: "stranger@harbor.example", emailVerified: true };
    const { text } = await signInWith(`port=${port}&state=${STATE}`);
    await shows(text, /^Signing in did not work/);
    expect(Object.fromEntries(received[0]?.form ?? [])).toEqual({ state: STATE, ssoError: "user_not_found" });
  });

  it.each(["port=80&state=", `port=${"9".repeat(6)}&state=`, "port=evil.example&state=", "state="])(
    "hands nothing over to %s",
    async (query) => {
      sso.idp.person = { subject: "pat", email: "pat@harbor.example", emailVerified: true };
      const { page, text } = await signInWith(`${query}${STATE}`);
      await shows(text, /^This address is not one that the command line made/);
      expect(new URL(page.url()).hash).toBe("");
      expect(received).toEqual([]);
    },
  );
});
