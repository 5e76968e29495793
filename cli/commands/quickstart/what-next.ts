import { join } from "node:path";
import type { DemoServer } from "./demo-server.ts";
import { fromPackage } from "./from-package.ts";
import { SIGN_INS } from "./story-people.ts";

const rmm = () => `Here rmm is \`node ${fromPackage("bin/rmm.js")}\`; \`npm link\` puts it on your PATH.`;

/** How to do it in earnest; without a keychain a sign-in keeps its tokens in a file. */
export const nextText = (seconds: number, hasKeychain: boolean): string =>
  [
    `Done in ${seconds} s; server and data are removed again.`,
    "",
    "What to type next:",
    "  rmm quickstart --keep                       the same, and the server stays to play with",
    "  rmm server start                            a server of your own, data in ./.rmm",
    "  rmm server create-admin --email you@example.com",
    `  rmm auth login --email you@example.com${hasKeychain ? "" : " --store=file"}`,
    "  rmm --help",
    "",
    rmm(),
  ].join("\n");

/** Where everything is that was kept, and how to end it. */
export const keptText = (dir: string, { url, pid }: DemoServer, seconds: number): string =>
  [
    `Done in ${seconds} s. The server goes on until you stop it:`,
    `  address   ${url}`,
    `  sign-ins  ${join(dir, SIGN_INS)} (only you can read it): emails, passwords, TOTP secrets, recovery codes`,
    `  log       ${join(dir, "server.log")}`,
    `  stop      kill ${pid}`,
    `  remove    rm -r ${dir}  (once it has ended)`,
    "",
    "What to type next, signed in as Pat:",
    `  export RMM_CONFIG_DIR=${join(dir, "config")}`,
    "  rmm devices list",
    "  rmm organizations list --all",
    `  rmm plan ${join(dir, "tenants.yaml")}`,
    "  rmm audit verify",
    "",
    rmm(),
  ].join("\n");
