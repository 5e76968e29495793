import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { ids, orgs, paged, stubApi, writesOf } from "./test-api.ts";
import { commandLine, specs, tokenFor } from "./test-commands.ts";
import { type Leaf, leaves } from "./test-leaves.ts";
import { testCommand } from "./test-shell.ts";
import { type WrittenLine, writtenLines } from "./test-written-lines.ts";

const command = testCommand();
afterAll(command.close);
const at = (name: string): string => join(command.dir, name);

/** Folders, and files that a command keeps for itself. */
const own = new Set(["--data-dir", "--state", "--journal", "--sink-dir", "--secret-dir"]);

const flagsOf = ({ command: { options } }: Leaf): string[] =>
  options.flatMap(({ long, flags }) => (/<(path|file)>/.test(flags) && long && !own.has(long) ? [long] : []));

/** What a line needs beside it so that the flag is looked at. */
const besides: Readonly<Record<string, readonly string[]>> = {
  "devices import --secret-file": ["--provision"],
  "webhooks verify --secret-file": ["--request-header", "X-Webhook-Signature: v1=00"],
  "webhooks verify --body-file": ["--secret-file", at("key"), "--request-header", "X-Webhook-Signature: v1=00"],
};

/** What a flag stands instead of, with its value. */
const instead: Readonly<Record<string, string>> = {
  "saved-filters explain --conditions": "--where",
  "pam-rules reorder --file": "Deny games",
};

const without = (argv: readonly string[], flag: string | undefined): string[] => {
  const at = flag === undefined ? -1 : argv.indexOf(flag);
  return at < 0 ? [...argv] : [...argv.slice(0, at), ...argv.slice(at + 2)];
};

const me = {
  ...{ id: "u", scope: "partner", partnerId: ids.twin, orgId: null, permissions: ["*:*"], mfaEnabled: true },
  ...{ orgAccess: "all", mfaSatisfied: true, roleName: "Partner Admin", siteIds: null, orgIds: null },
};

async function lines(): Promise<(leaf: Leaf) => WrittenLine & { credential: string }> {
  const written = writtenLines(command.dir);
  const all = await specs();
  return ({ path }) => {
    const name = path.join(" ");
    const spec = all.find((one) => `${one.noun} ${one.name}` === path.slice(-2).join(" "));
    const credential = spec ? tokenFor(spec.access) : "token-of-ana";
    const line = name === "server audit-bundle" ? { argv: ["--system", "--data-dir", at("data")] } : written[name];
    if (line) return { ...line, argv: [...path, ...line.argv], credential };
    const { argv, ...more } = commandLine(spec!);
    return { ...more, argv: [...path, ...argv.slice(2)], credential };
  };
}

it("a file flag that names no file is refused with path and reason in words, and nothing is sent", async () => {
  const device = { id: ids.twin, orgId: ids.contoso, hostname: "pc-1", customFields: {}, tags: [], siteName: "HQ" };
  const stub = await stubApi({
    "GET /users/me": () => ({ body: me }),
    "GET /orgs/organizations": (_seen, query) => paged(orgs, query),
    ...Object.fromEntries(
      orgs.flatMap((one) => [
        [`GET /orgs/organizations/${one.id}`, () => ({ body: one })],
        [`GET /orgs/organizations/${one.id}/contacts`, (_seen: unknown, query: URLSearchParams) => paged([], query)],
      ]),
    ),
    "GET /orgs/partners/me": () => ({ body: { id: ids.twin, name: "Acme", slug: "acme" } }),
    "GET /devices": () => ({ body: { devices: [device], nextCursor: null, limit: 100 } }),
    "GET /custom-fields": (_seen, query) => paged([], query),
    [`GET /pam/elevation-requests/${ids.twin}`]: () => ({ body: { id: ids.twin, orgId: ids.contoso, events: [] } }),
  });
  for (const [name, text] of [
    ["plain", "no folder"],
    ["key", "secret"],
    ["body.json", "{}"],
    ["tenants.yaml", "apiVersion: rmm/v1\norganizations: []\n"],
    ["customers.csv", "Customer\nHarbor\n"],
    ["devices.csv", `id,org\n${ids.twin},contoso-dental\n`],
  ] as const)
    writeFileSync(at(name), text);
  await command.run(["server", "migrate", "--data-dir", at("data")]);
  const lineOf = await lines();
  const path = join(at("plain"), "x");
  const faults: string[] = [];
  let tried = 0;
  for (const leaf of await leaves()) {
    for (const flag of flagsOf(leaf)) {
      const name = `${leaf.path.join(" ")} ${flag}`;
      const { argv, stdin, credential } = lineOf(leaf);
      const rest = without(argv, instead[name]).filter((one) => one !== flag.replace(/-file$/, "-stdin"));
      stub.seen.length = 0;
      const ran = await command.run([...rest, ...(besides[name] ?? []), flag, path], {
        env: { RMM_SERVER: stub.url, RMM_TOKEN: credential },
        ...(stdin === undefined ? {} : { stdin }),
      });
      tried += 1;
      const told = ran.stderr.includes(path) && ran.stderr.includes("a part of its path is no folder");
      const isRight = ran.code === 2 && told && writesOf(stub).length === 0;
      if (!isRight) faults.push(`${name}: ${ran.code}, ${writesOf(stub).length} sent: ${ran.stderr.slice(0, 150)}`);
    }
  }
  await stub.close();
  expect(faults.join("\n")).toBe("");
  expect(tried).toBeGreaterThan(100);
});
