import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { planBrowser, startBrowser } from "./browser.ts";

const URL = "https://rmm.example/api/v1/sso/login/x?redirect=%2Fa%3Fb%3D1%26c%3D2";
const dir = mkdtempSync(join(tmpdir(), "rmm-browser-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe("which browser", () => {
  it("is the system's, and none where no one would see it", () => {
    expect(planBrowser(URL, { DISPLAY: ":0" }, "linux")).toEqual({ launches: [["xdg-open", URL]] });
    expect(planBrowser(URL, { WAYLAND_DISPLAY: "wayland-0" }, "linux")).toEqual({ launches: [["xdg-open", URL]] });
    expect(planBrowser(URL, {}, "linux")).toEqual({ byHand: "no display" });
    expect(planBrowser(URL, { DISPLAY: "" }, "freebsd")).toEqual({ byHand: "no display" });
    expect(planBrowser(URL, {}, "darwin")).toEqual({ launches: [["open", URL]] });
    expect(planBrowser(URL, {}, "win32")).toEqual({ launches: [["rundll32", "url.dll,FileProtocolHandler", URL]] });
  });

  it("is none over SSH, whatever BROWSER and DISPLAY say", () => {
    const env = { BROWSER: "firefox", DISPLAY: "localhost:10.0" };
    for (const name of ["SSH_CONNECTION", "SSH_TTY"])
      expect(planBrowser(URL, { ...env, [name]: "x" }, "linux")).toEqual({ byHand: "ssh" });
  });

  it("is what BROWSER says, in its order, `%s` for the address", () => {
    const plan = (BROWSER: string) => planBrowser(URL, { BROWSER }, "linux");
    expect(plan("firefox")).toEqual({ launches: [["firefox", URL]] });
    expect(plan("firefox --new-window %s:lynx -x")).toEqual({
      launches: [
        ["firefox", "--new-window", URL],
        ["lynx", "-x", URL],
      ],
    });
    expect(plan(" : ")).toEqual({ byHand: "no display" });
    const spaced = join(dir, "my browser");
    writeFileSync(spaced, "");
    expect(plan(spaced)).toEqual({ launches: [[spaced, URL]] });
  });
});

describe("starting it", () => {
  it("uses no shell, passes over what is not there, and tells the browser nothing of this program's", async () => {
    const [file, seen] = [join(dir, "browser"), join(dir, "seen")];
    writeFileSync(
      file,
      `#!/bin/sh\nprintf '%s\\n' "$#" "$@" "\${RMM_TOKEN-none}" > ${seen}.tmp && mv ${seen}.tmp ${seen}\n`,
    );
    chmodSync(file, 0o755);
    const url = "https://rmm.example/?a=$(touch pwned)&b=`id`;c";
    const env = { PATH: process.env["PATH"], RMM_TOKEN: "secret-token" };
    expect(
      await startBrowser(
        [
          ["no-such-browser", url],
          [file, url],
        ],
        env,
      ),
    ).toBe(true);
    const text = await vi.waitFor(() => readFileSync(seen, "utf8"), { timeout: 5_000 });
    expect(text).toBe(`1\n${url}\nnone\n`);
    expect(await startBrowser([["no-such-browser", url]], env)).toBe(false);
  });
});
