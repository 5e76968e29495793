import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { seedPartner } from "../harness.ts";
import { type SsoTest, startSsoTest } from "../sso.ts";
import { type ChromiumWindow, chromiumPath, openChromium, whyNoChromium } from "./chromium.ts";
import { type RmmProcess, rmmProcess } from "./rmm-process.ts";

if (chromiumPath === undefined) process.stderr.write(`The sign-in in a browser is not tested: ${whyNoChromium}\n`);

const here = { timeout: 120_000 };
describe.skipIf(chromiumPath === undefined)("rmm auth login --sso, a real provider and a real browser", here, () => {
  let sso: SsoTest;
  let rmm: RmmProcess;
  let orgId: string;
  let partnerId: string;
  let browser: ChromiumWindow;

  beforeAll(async () => {
    sso = await startSsoTest("sqlite");
    rmm = rmmProcess({ RMM_SERVER: sso.server.url });
    const seeded = await seedPartner(sso.server, "acme", ["harbor"]);
    partnerId = seeded.partnerId;
    orgId = seeded.orgIds[0] as string;
    await sso.seedProvider({ orgId }, { allowedDomains: "harbor.example" });
    await sso.seedProvider({ partnerId }, { trustsIdpMfa: true });
  });
  afterAll(async () => {
    rmm?.close();
    await sso?.stop();
  });
  beforeEach(async () => {
    browser = await openChromium();
  });
  afterEach(() => browser?.close());

  const start = async (...argv: string[]) => {
    const login = rmm.start(["auth", "login", "--sso", "--store", "file", ...argv]);
    const address = (await login.onStderr(/^ {2}(http:\S+)$/m))[1] as string;
    const redirect = new URL(address).searchParams.get("redirect") as string;
    const { searchParams } = new URL(redirect, sso.server.url);
    return { login, address, port: searchParams.get("port"), state: searchParams.get("state") };
  };
  const message = () => browser.page.locator("#message");

  it("signs in: the page passes the code on, the browser says so, and the code is in no URL", async () => {
    const { email } = await sso.server.signIn({ role: "Org Admin", orgId, email: "pat@harbor.example", mfa: false });
    sso.idp.person = { subject: "pat", email, emailVerified: true };
    const { login, address } = await start("--org", orgId);
    const sent: string[] = [];
    browser.page.on("request", (request) => void sent.push(`${request.method()} ${request.url()}`));
    await browser.page.goto(address);
    await browser.page.waitForURL(/done=1$/);
    expect(await message().textContent()).toBe("You are signed in. You can close this window.");
    expect(await login.done).toMatchObject({ code: 0, stdout: "" });
    expect(sso.idp.requests).toContain("POST /token");
    expect(JSON.parse((await rmm.run(["users", "me", "--json=email"])).stdout)).toEqual({ email });
    expect(browser.complaints).toEqual([]);
    // Going back neither sends the code again nor shows it.
    await browser.page.goBack();
    expect(browser.page.url()).not.toContain("ssoCode");
    expect(sent.filter((one) => one.includes("ssoCode"))).toEqual([]);
  });

  it("signs in to a partner, whose provider's second factor counts", async () => {
    const { email } = await sso.server.signIn({ role: "Partner Admin", partnerId, email: "tech@acme.example" });
    sso.idp.person = { subject: "tech", email, emailVerified: true, amr: ["pwd", "mfa"] };
    const { login, address } = await start("--partner", partnerId, "--json");
    await browser.page.goto(address);
    await browser.page.waitForURL(/done=1$/);
    expect(JSON.parse((await login.done).stdout)).toMatchObject({
      account: email,
      scope: "partner",
      mfaSatisfied: true,
    });
  });

  it("says in the browser and in the terminal that the sign-in was refused", async () => {
    sso.idp.person = { subject: "far", email: "pat@elsewhere.example", emailVerified: true };
    const { login, address } = await start("--org", orgId);
    await browser.page.goto(address);
    await browser.page.waitForURL(/done=0$/);
    expect(await message().textContent()).toContain("the command line says why");
    const ran = await login.done;
    expect(ran).toMatchObject({ code: 4, stdout: "" });
    expect(ran.stderr).toContain("Email addresses of your domain may not sign in here");
    expect(browser.complaints).toEqual([]);
  });

  it("ignores another page that sends the browser to the listener", async () => {
    const { email } = await sso.server.signIn({ role: "Org Admin", orgId, email: "kim@harbor.example", mfa: false });
    sso.idp.person = { subject: "kim", email, emailVerified: true };
    const { login, address, port } = await start("--org", orgId);
    const hostile = await hostilePage(port as string);
    const { page } = browser;
    await page.goto(hostile.url);
    await page.waitForURL(`http://127.0.0.1:${port}/`);
    expect(await page.locator("body").textContent()).toContain("Not what this command waits for");
    await page.goto(address);
    await page.waitForURL(/done=1$/);
    expect(await login.done).toMatchObject({ code: 0 });
    expect(JSON.parse((await rmm.run(["users", "me", "--json=email"])).stdout)).toEqual({ email });
    await hostile.stop();
  });
});

/** A page of another origin that found the port: asks the listener by script, then moves the window to it. */
async function hostilePage(port: string): Promise<{ url: string; stop(): Promise<void> }> {
  const target = `http://127.0.0.1:${port}/`;
  const form = `<form method="post" action="${target}"><input name="state" value="${"s".repeat(43)}"><input name="ssoCode" value="${"c".repeat(48)}"></form>`;
  const script = `fetch("${target}", { method: "POST", mode: "no-cors", body: new URLSearchParams({ state: "guess" }) }).catch(() => 0).then(() => document.forms[0].submit())`;
  const server: Server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end(`<!doctype html>${form}<script>${script}</script>`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}/`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
