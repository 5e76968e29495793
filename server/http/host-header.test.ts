import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test/harness.ts";

describe("the Host header", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer("sqlite");
  });
  afterAll(() => server?.stop());

  const ask = (...headers: string[]) =>
    new Promise<string>((resolve, reject) => {
      const { hostname, port } = new URL(server.url);
      const socket = connect(Number(port), hostname, () => {
        socket.write(["GET /health HTTP/1.1", ...headers, "Connection: close", "", ""].join("\r\n"));
      });
      let text = "";
      socket.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      socket.on("end", () => resolve(text)).on("error", reject);
    });

  it.each([
    ["two hosts", ["Host: rmm.example", "Host: evil.example"]],
    ["one host twice", ["Host: rmm.example", "Host: rmm.example"]],
    ["two hosts in other letters", ["Host: rmm.example", "Accept: */*", "hOST: evil.example"]],
  ])("is refused as %s", async (_, headers) => {
    const answer = await ask(...headers);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('"code":"VALIDATION_ERROR"');
    expect(answer).toContain("The Host header came more than once");
  });

  it("is taken once, and refused where it is absent", async () => {
    expect(await ask("Host: rmm.example")).toMatch(/^HTTP\/1\.1 200 /);
    expect(await ask()).toMatch(/^HTTP\/1\.1 400 /);
  });
});
