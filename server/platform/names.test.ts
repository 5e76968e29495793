import { createHook } from "node:async_hooks";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { startDns } from "#fixtures/simulators/dns";
import { addressesInHosts } from "./hosts-file.ts";
import { names } from "./names.ts";

it("names that never answer hold up no other", async () => {
  const dns = await startDns();
  try {
    dns.setAddresses("well.example", ["192.0.2.1", "2001:db8::1"]);
    const { addresses } = names(dns.server);
    const silent = Array.from({ length: 64 }, (_, n) => `never-${n}.example`);
    for (const name of silent) dns.setSilent(name);
    const first = Promise.race(silent.map((name) => addresses(name).catch(() => "ended")));
    expect(await Promise.race([first, addresses("well.example")])).toEqual(["192.0.2.1", "2001:db8::1"]);
  } finally {
    await dns.stop();
  }
});

it("the machine's names are not asked for in the threads that all share", async () => {
  const used = new Set<string>();
  const watching = createHook({ init: (_, type) => void used.add(type) }).enable();
  // Whatever this machine answers, and when.
  void names(undefined)
    .addresses("rmm-test.invalid")
    .catch(() => undefined);
  for (const end = Date.now() + 5_000; Date.now() < end && !used.has("QUERYWRAP"); ) await setImmediate();
  watching.disable();
  expect([used.has("QUERYWRAP"), used.has("GETADDRINFOREQWRAP")]).toEqual([true, false]);
});

it("the hosts file is read as the machine reads it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rmm-hosts-"));
  try {
    const file = join(folder, "hosts");
    writeFileSync(
      file,
      "# 192.0.2.9 pager\n192.0.2.1\tpager.lan  Pager # and 192.0.2.2 other\r\n2001:db8::1 pager\nfe80::1%lo0 pager\nx pager\n",
    );
    expect(await addressesInHosts("PAGER.", file)).toEqual(["192.0.2.1", "2001:db8::1"]);
    expect(await addressesInHosts("pager.lan", file)).toEqual(["192.0.2.1"]);
    expect(await addressesInHosts("other", file)).toEqual([]);
    expect(await addressesInHosts("localhost", join(folder, "none"))).toEqual(["127.0.0.1", "::1"]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
