import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test/harness.ts";
import { linkPageAt, linkPageText } from "./link-pages.ts";

const SECRET = "s3cret-in-a-link";
const POLICY =
  /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; base-uri 'none'; frame-ancestors 'none'; form-action 'none'$/;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer("sqlite");
});
afterAll(() => server?.stop());

const ask = async (path: string, init: RequestInit = {}) => {
  const response = await fetch(`${server.url}${path}`, { redirect: "manual", ...init });
  return { status: response.status, headers: response.headers, text: await response.text() };
};
const html = { headers: { accept: "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8" } };

function expectPage({ headers, text }: Awaited<ReturnType<typeof ask>>): void {
  expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(headers.get("content-security-policy")).toMatch(POLICY);
  expect([headers.get("referrer-policy"), headers.get("cache-control")]).toEqual(["no-referrer", "no-store"]);
  expect(text).not.toMatch(/<script|<a |src=|href=/);
}

describe("the page behind a link", () => {
  it.each([
    ["/accept-invite", "rmm users accept-invite"],
    ["/reset-password", "rmm passwords reset"],
    ["/login?error=session_expired", "rmm auth login --sso"],
    ["/settings/profile?ssoLinked=1", "rmm sso-logins link-options"],
    ["/", "rmm auth login"],
  ])(
    "at %s names the command for this server, runs nothing and repeats nothing of the address",
    async (path, command) => {
      const shown = await ask(`${path}${path.includes("?") ? "&" : "?"}token=${SECRET}`);
      expect(shown.status).toBe(200);
      expectPage(shown);
      expect(shown.text).toContain(`<code>${command} --server ${server.url}</code>`);
      expect(shown.text).not.toContain(SECRET);
      expect(await ask(path, { method: "HEAD" })).toMatchObject({ status: 200, text: "" });
      const posted = await ask(path, { method: "POST", body: "{}" });
      expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    },
  );

  it("is none of the API, and stands at no path beside it", async () => {
    for (const path of ["/api/v1/accept-invite", "/accept-invite/more", "/Accept-Invite", "/constructor"]) {
      const { status, headers } = await ask(path, html);
      expect([path, status, headers.get("content-type")]).toEqual([path, 404, "application/json; charset=utf-8"]);
    }
  });

  it("names no server whose Host header is no address", () => {
    const page = linkPageAt("/accept-invite/")!;
    expect(linkPageText(page, "https://rmm.example")).toContain("--server https://rmm.example<");
    for (const host of ["x;rm -rf ~", "x`id`", "x$(id)", "<b>", "a@b", ""])
      expect(linkPageText(page, `http://${host}`), host).toContain("--server &lt;address of this page");
  });
});

describe("an error of an address that browsers are sent to", () => {
  it.each(["/sso/callback/not-a-uuid?code=a&state=b", "/sso/callback/%zz", "/sso/login/not-a-uuid"])(
    "is a page for a browser and JSON for everybody else: %s",
    async (path) => {
      const page = await ask(`/api/v1${path}`, html);
      expect(page.status).toBe(400);
      expectPage(page);
      expect(page.text).toContain("400 VALIDATION_ERROR");
      const json = await ask(`/api/v1${path}`);
      expect([json.status, JSON.parse(json.text).code]).toEqual([400, "VALIDATION_ERROR"]);
    },
  );

  it("stays JSON elsewhere, whatever the client accepts", async () => {
    const { status, text } = await ask("/api/v1/users/me", html);
    expect([status, JSON.parse(text).code]).toEqual([401, "UNAUTHENTICATED"]);
  });
});
