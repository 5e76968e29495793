import { setTimeout as pause } from "node:timers/promises";
import type { Caller, Stage } from "#fixtures/example";
import type { IdentityProviderSimulator } from "#fixtures/simulators/identity-provider";
import type { Authority } from "#fixtures/simulators/test-authority";
import { cheapHash } from "../cheap-password.ts";
import type { TestServer } from "../harness.ts";

const PASSWORD = "Correct-Horse-7";

/** What the examples on one server share. */
export class Stages {
  readonly #server: TestServer;
  readonly #authority: Authority | undefined;
  #provider: Promise<IdentityProviderSimulator> | undefined;

  constructor(server: TestServer, authority: Authority | undefined) {
    this.#server = server;
    this.#authority = authority;
  }

  /** For one example. */
  open(caller: Caller): Stage {
    const server = this.#server;
    return {
      caller,
      db: server.db,
      services: server.services,
      async request(method, path, options) {
        const { status, body } = await server.request(method, path, options);
        if (status >= 400) throw new Error(`${method} ${path} answered ${status}: ${JSON.stringify(body)}`);
        return body;
      },
      async password() {
        const change = { passwordHash: await cheapHash(PASSWORD) };
        await server.db.updateTable("users").set(change).where("id", "=", caller.userId).execute();
        return PASSWORD;
      },
      mailedToken: (to) => mailedToken(server, to),
      identityProvider: () => this.#identityProvider(),
    };
  }

  async close(): Promise<void> {
    await (await this.#provider)?.stop();
  }

  #identityProvider(): Promise<IdentityProviderSimulator> {
    const authority = this.#authority;
    if (!authority) throw new Error("this sweep was started without the outside world");
    // Imported only when needed, because it takes most of a second.
    this.#provider ??= import("#fixtures/simulators/identity-provider").then(({ startIdentityProvider }) =>
      startIdentityProvider({ authority }),
    );
    return this.#provider;
  }
}

/** Token of the last link mailed to this address. The server's own job runner may still be sending it. */
export async function mailedToken(server: TestServer, to: string): Promise<string> {
  for (let tries = 0; tries < 500; tries += 1) {
    await server.workJobs();
    const mail = server.mails.findLast((one) => one.to === to);
    const token = /#token=(\S+)/.exec(mail?.text ?? "")?.[1];
    if (token !== undefined) return token;
    await pause(20);
  }
  throw new Error(`no link was mailed to ${to}`);
}
