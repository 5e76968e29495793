import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../harness.ts";
import { type ChromiumWindow, chromiumPath, openChromium, whyNoChromium } from "./chromium.ts";

describe.skipIf(chromiumPath === undefined)(
  `the page of the API in a browser (${chromiumPath ?? whyNoChromium})`,
  () => {
    let server: TestServer;
    let window: ChromiumWindow;
    beforeAll(async () => {
      server = await startTestServer("sqlite");
      window = await openChromium();
    });
    afterAll(async () => {
      await window?.close();
      await server?.stop();
    });

    it("shows every resource, sends a call, and violates no content security policy", async () => {
      const { page, complaints } = window;
      const asked: string[] = [];
      page.on("request", (request) => asked.push(new URL(request.url()).origin));
      await page.goto(`${server.url}/docs#/service-status/service-status.health`);
      await page.locator(".opblock-tag").first().waitFor();
      expect(await page.locator(".opblock-tag").count()).toBeGreaterThan(20);
      const health = page.locator(".opblock", { hasText: "Show that the server answers" });
      await health.getByRole("button", { name: "Try it out" }).click();
      await health.getByRole("button", { name: "Execute", exact: true }).click();
      await health.locator(".live-responses-table", { hasText: '"ok"' }).waitFor();
      expect(complaints).toEqual([]);
      expect([...new Set(asked)]).toEqual([server.url]);
    });
  },
);
