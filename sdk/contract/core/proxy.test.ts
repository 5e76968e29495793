import { describe, expect, it } from "vitest";
import { proxyFor } from "./proxy.ts";

const proxyOf = (target: string, env: Record<string, string>) => proxyFor(new URL(target), env)?.address;

describe("the proxy of a request (C66)", () => {
  const env = { HTTPS_PROXY: "http://secure.example:3128", http_proxy: "plain.example:8080" };

  it("is that of its scheme, in capitals or not; an empty value is none", () => {
    expect(proxyOf("https://rmm.example/", env)).toBe("http://secure.example:3128");
    expect(proxyOf("http://rmm.example/", env)).toBe("http://plain.example:8080");
    expect(proxyOf("https://rmm.example/", { HTTPS_PROXY: "" })).toBeUndefined();
    expect(proxyOf("https://rmm.example/", { HTTP_PROXY: "http://p:1" })).toBeUndefined();
  });

  it.each([
    ["https://rmm.example", "rmm.example", true],
    ["https://rmm.example", "RMM.example", true],
    ["https://eu.rmm.example", "rmm.example", true],
    ["https://eu.rmm.example", ".rmm.example", true],
    ["https://eu.rmm.example", "*.rmm.example", true],
    ["https://armm.example", "rmm.example", false],
    ["https://rmm.example", "other.example, rmm.example", true],
    ["https://rmm.example", "other.example rmm.example", true],
    ["https://rmm.example", "rmm.example:443", true],
    ["https://rmm.example:8443", "rmm.example:443", false],
    ["https://rmm.example", "*", true],
    ["https://10.1.2.3", "10.0.0.0/8", true],
    ["https://11.1.2.3", "10.0.0.0/8", false],
    ["https://10.1.2.3", "10.1.2.3", true],
    ["https://[2001:db8::1]", "2001:db8::1", true],
    ["https://[2001:db8::1]:8443", "[2001:db8::1]:8443", true],
    ["https://localhost:3000", "", true],
    ["https://127.0.0.9:3000", "", true],
    ["https://[::1]:3000", "", true],
    ["https://rmm.example", ",", false],
  ])("%s with NO_PROXY=%s goes straight: %s", (target, list, straight) => {
    expect(proxyOf(target, { ...env, NO_PROXY: list }) === undefined).toBe(straight);
  });

  it("takes user and password out of the address, percent-encoding undone", () => {
    const proxy = proxyFor(new URL("https://rmm.example"), {
      https_proxy: "http://ana:p%40ss%3A%C3%A9@p.example:3128",
    });
    expect(proxy?.address).toBe("http://p.example:3128");
    expect(proxy?.authorization).toBe(`Basic ${Buffer.from("ana:p@ss:é").toString("base64")}`);
  });

  it.each(["socks5://p.example:1080", "http://", "http://:hunter2@"])(
    "refuses %s by the name of the variable",
    (value) => {
      const read = () => proxyOf("https://rmm.example", { HTTPS_PROXY: value });
      expect(read).toThrow("HTTPS_PROXY must be an address such as http://proxy.example:3128");
      expect(read).not.toThrow("hunter2");
    },
  );
});
