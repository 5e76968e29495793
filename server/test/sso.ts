import type { Updateable } from "kysely";
import { Agent, fetch as outside } from "undici";
import { seedProvider } from "#fixtures/nouns/sign-in/sso-providers";
import { type IdentityProviderSimulator, startIdentityProvider } from "#fixtures/simulators/identity-provider";
import type { Environment } from "#server/config";

import type { SsoProvidersTable } from "#server/db/tables/sign-in";
import type { ProviderRow } from "#server/features/sign-in/sso-providers/find-active-provider";

import { type Answer, type DatabaseName, startTestServer, type TestOptions, type TestServer } from "./harness.ts";

export interface SsoTest {
  server: TestServer;
  idp: IdentityProviderSimulator;
  /** Inserts an active provider that signs in through the simulator. */
  seedProvider(owner: { orgId: string } | { partnerId: string }, change?: Partial<ProviderRow>): Promise<ProviderRow>;
  /** Changes a provider as an administrator would: its configuration version increases. */
  reconfigure(id: string, change: Updateable<SsoProvidersTable>): Promise<void>;
  /** A new browser with its own cookies. */
  browser(): Browser;
  stop(): Promise<void>;
}

/** A server that trusts the simulator's certificate authority and treats this machine as the public internet. */
export async function startSsoTest(
  database: DatabaseName,
  env: Environment = {},
  options: TestOptions = {},
): Promise<SsoTest> {
  const idp = await startIdentityProvider();
  const outbound = { ca: idp.ca, isPublic: () => true };
  // Resolves names as the machine does, including `localhost`.
  const all = { TRUST_PROXY_HEADERS: "true", DNS_RESOLVER: "", ...env };
  const server = await startTestServer(database, all, { ...options, outbound });
  const dispatcher = new Agent({ connect: { ca: idp.ca } });
  const addresses = addressBook();
  return {
    server,
    idp,
    seedProvider: (owner, change) => seedProvider(server, idp, owner, change),
    async reconfigure(id, change) {
      await server.db
        .updateTable("ssoProviders")
        .set((eb) => ({ ...change, configVersion: eb("configVersion", "+", 1) }))
        .where("id", "=", id)
        .execute();
    },
    browser: () => openBrowser(server, dispatcher, addresses()),
    async stop() {
      await dispatcher.close();
      await server.stop();
      await idp.stop();
    },
  };
}

/** Sign-ins are limited per address, so each browser has its own. */
function addressBook(): () => string {
  let made = 0;
  return () => `198.51.${Math.floor(++made / 250)}.${(made % 250) + 1}`;
}

export interface Browser {
  /** Starts at a path of the server or a URL of the provider, stops before the callback and returns its URL. */
  goToProvider(start: string): Promise<string>;
  /** Calls the callback at the server; returns where it sends the browser. */
  goToCallback(address: string): Promise<string>;
  /** Both steps. */
  signIn(path: string): Promise<string>;
  /** Returns the one-time code; throws if the sign-in fails. */
  code(path: string): Promise<string>;
  /** Returns the token pair; throws if the sign-in fails. */
  tokens(path: string): Promise<Answer["body"]>;
  readonly cookies: Map<string, string>;
}

function openBrowser(server: TestServer, dispatcher: Agent, address: string): Browser {
  const cookies = new Map<string, string>();
  const keep = (set: string[]) => {
    for (const one of set) {
      const [pair = ""] = one.split(";");
      const at = pair.indexOf("=");
      if (/Max-Age=0/i.test(one) || at === pair.length - 1) cookies.delete(pair.slice(0, at));
      else cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
  };
  const headers = () => ({ cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") });

  /** Follows one redirect. */
  async function step(url: URL): Promise<URL> {
    if (url.origin === server.url) {
      const sent = { ...headers(), "x-forwarded-for": address };
      const answer = await fetch(url, { redirect: "manual", headers: sent });
      keep(answer.headers.getSetCookie());
      return movedTo(url, answer.headers.get("location"), answer.status, await answer.text());
    }
    const answer = await outside(url, { redirect: "manual", headers: headers(), dispatcher });
    keep(answer.headers.getSetCookie());
    return movedTo(url, answer.headers.get("location"), answer.status, await answer.text());
  }

  const browser: Browser = {
    cookies,
    async goToProvider(start) {
      let url = new URL(start.startsWith("/") ? `/api/v1${start}` : start, server.url);
      for (let steps = 0; steps < 10; steps += 1) {
        url = await step(url);
        if (url.pathname.startsWith("/api/v1/sso/callback")) return url.href;
      }
      throw new Error(`the provider does not send the browser back: ${url}`);
    },
    async goToCallback(callback) {
      const url = await step(new URL(callback));
      return url.origin === server.url ? `${url.pathname}${url.search}${url.hash}` : url.href;
    },
    async signIn(path) {
      return browser.goToCallback(await browser.goToProvider(path));
    },
    async code(path) {
      const location = await browser.signIn(path);
      const code = /#ssoCode=(.{48})$/.exec(location)?.[1];
      if (code === undefined) throw new Error(`no code: ${location}`);
      return code;
    },
    async tokens(path) {
      const answer = await server.request("POST", "/sso/exchange", { body: { code: await browser.code(path) } });
      if (answer.status !== 200) throw new Error(`no tokens: ${JSON.stringify(answer.body)}`);
      return answer.body;
    },
  };
  return browser;
}

function movedTo(from: URL, location: string | null, status: number, body: string): URL {
  if (location === null) throw new Error(`${from.origin}${from.pathname} answered ${status}: ${body}`);
  return new URL(location, from);
}
