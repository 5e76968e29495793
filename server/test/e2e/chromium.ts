import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The Chromium of this machine; without one, tests that need it are skipped. */
export const chromiumPath: string | undefined = places.find((path) => existsSync(path));

export const whyNoChromium = `no Chromium in ${places.join(", ")}: install the package chromium`;

export interface ChromiumWindow {
  readonly page: Page;
  /** Errors of the browser: policy violations and script errors. */
  readonly complaints: string[];
  close(): Promise<void>;
}

/** A browser with its own profile, the only program on this machine that trusts the certificates of the tests. */
export async function openChromium(): Promise<ChromiumWindow> {
  const profile = mkdtempSync(join(tmpdir(), "rmm-chromium-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: chromiumPath as string,
    headless: true,
    ignoreHTTPSErrors: true,
    args: [
      ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
      ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
    ],
  });
  const page = context.pages()[0] ?? (await context.newPage());
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  return {
    page,
    complaints,
    async close() {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}
