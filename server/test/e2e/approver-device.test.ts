import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ElevationWorld } from "../access-control/elevation-world.ts";
import type { SignedInUser } from "../harness.ts";
import { PASSWORD, seedPerson } from "../people.ts";
import { type ChromiumWindow, chromiumPath, openChromium, whyNoChromium } from "./chromium.ts";
import { type RmmProcess, rmmProcess } from "./rmm-process.ts";

if (chromiumPath === undefined)
  process.stderr.write(`Approver devices are not tested in a browser: ${whyNoChromium}\n`);

const here = { timeout: 120_000 };
describe.skipIf(chromiumPath === undefined)("approver devices, by rmm and a real browser", here, () => {
  let world: ElevationWorld;
  let rmm: RmmProcess;
  let browser: ChromiumWindow;
  let mia: SignedInUser;
  let deviceId: string;

  beforeAll(async () => {
    world = await ElevationWorld.start("sqlite", { PUBLIC_URL: "http://localhost" });
    // The port is known once it listens.
    const { config } = world.server.services as { config: { publicUrl: string | undefined } };
    config.publicUrl = `http://localhost:${new URL(world.server.url).port}`;
    mia = await seedPerson(world.server, { role: "Org Admin", orgId: world.orgId });
    ({ deviceId } = await world.device());
    rmm = rmmProcess({ RMM_SERVER: world.server.url, RMM_TOKEN: mia.token });
    browser = await openChromium();
    const devtools = await browser.page.context().newCDPSession(browser.page);
    await devtools.send("WebAuthn.enable");
    await devtools.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        ...({ protocol: "ctap2", transport: "internal", hasResidentKey: true } as const),
        ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
      },
    });
  });
  afterAll(async () => {
    await browser?.close();
    rmm?.close();
    await world?.stop();
  });

  const message = () => browser.page.locator("#message").textContent();
  const press = (name: string) => browser.page.getByRole("button", { name }).click();

  async function start(argv: readonly string[], stdin = "") {
    const run = rmm.start([...argv, "--no-browser"], { stdin });
    const [, address] = await run.onStderr(/^ {2}(http:\S+)$/m);
    return { run, address: address as string };
  }

  it("registers the machine: the page says for whom, and the command prints the device", async () => {
    const registering = ["approver-devices", "register", "--label", "laptop", "--current-password-stdin", "--json"];
    const { run, address } = await start(registering, PASSWORD);
    await browser.page.goto(address);
    await browser.page.getByRole("button", { name: "Register this device" }).waitFor();
    expect(await message()).toContain(mia.email);
    // The challenge is in no address any more.
    expect(browser.page.url()).not.toContain("challenge");
    await press("Register this device");
    await browser.page.waitForURL(/done=1$/);
    expect(await message()).toBe("Done. You can close this window.");
    const { code, stdout, stderr } = await run.done;
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ label: "laptop", isPlatformBound: true, transports: ["internal"] });
    expect(browser.complaints).toEqual([]);
    const listed = await rmm.run(["authenticator", "list", "--json=label"]);
    expect(JSON.parse(listed.stdout)).toEqual([{ label: "laptop" }]);
  });

  it("approves: page and terminal show the same facts, and the ledger says level 3", async () => {
    const commandLine = "setup.exe \u202e/S <b>x</b>";
    const id = await world.pending(deviceId, { riskTier: 3, commandLine });
    const { run, address } = await start(["pam", "approve", id, "--yes", "--json"]);
    await browser.page.goto(address);
    await browser.page.getByRole("button", { name: "Approve with this device" }).waitFor();
    const shown = await browser.page.locator("#facts").textContent();
    for (const fact of [
      id,
      "reception-pc",
      "CONTOSO\\jana",
      "C:/Setup/printer.exe",
      "3 (high)",
      "setup.exe \\u202e/S <b>x</b>",
    ])
      expect(shown).toContain(fact);
    expect(await world.show(id)).toMatchObject({ status: "pending" });
    await press("Approve with this device");
    await browser.page.waitForURL(/done=1$/);
    const { code, stdout, stderr } = await run.done;
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ id, status: "approved" });
    for (const fact of [id, "reception-pc", "setup.exe \\u202e/S <b>x</b>"]) expect(stderr).toContain(fact);
    expect(await world.show(id)).toMatchObject({ decidedAssuranceLevel: 3, decidedVia: "webauthn_platform" });
    expect(browser.complaints).toEqual([]);
  });

  it("approves a critical request at level 4 with the password beside it", async () => {
    const id = await world.pending(deviceId, { riskTier: 4 });
    const { run, address } = await start(["pam", "approve", id, "--yes", "--reauth-password-stdin"], PASSWORD);
    await browser.page.goto(address);
    await press("Approve with this device");
    await browser.page.waitForURL(/done=1$/);
    expect((await run.done).code).toBe(0);
    expect(await world.show(id)).toMatchObject({ decidedAssuranceLevel: 4 });
  });

  it("decides nothing where it is cancelled, or decided by somebody else meanwhile", async () => {
    const [cancelled, late] = [
      await world.pending(deviceId, { riskTier: 3 }),
      await world.pending(deviceId, { riskTier: 3 }),
    ];
    const one = await start(["pam", "approve", cancelled, "--yes"]);
    await browser.page.goto(one.address);
    await press("Cancel");
    await browser.page.waitForURL(/done=0$/);
    expect(await one.run.done).toMatchObject({ code: 4, stdout: "" });
    expect(await world.show(cancelled)).toMatchObject({ status: "pending" });
    const other = await start(["pam", "approve", late, "--yes"]);
    await browser.page.goto(other.address);
    await browser.page.getByRole("button", { name: "Approve with this device" }).waitFor();
    await world.deny(late);
    await press("Approve with this device");
    await browser.page.waitForURL(/done=0$/);
    expect(await other.run.done).toMatchObject({ code: 6 });
    expect(await world.show(late)).toMatchObject({ status: "denied" });
  });

  it("says so on the page where the challenge is none that waits, and where the address is no one's", async () => {
    const page = `${world.server.services.config.publicUrl}/api/v1/authenticator/page`;
    await browser.page.goto(`${page}?port=49152&state=${"s".repeat(43)}#challenge=${"c".repeat(43)}`);
    await browser.page.getByText("has ended").waitFor();
    await browser.page.goto(`${page}?port=80&state=x#challenge=y`);
    expect(await message()).toBe("This address is not one that the command line made.");
  });
});
