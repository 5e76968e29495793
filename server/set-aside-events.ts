import { buildServices } from "./app.ts";
import type { Config } from "./config.ts";
import { troubleOf } from "./db/trouble.ts";
import { handOutAgain, listSetAside, type SetAside } from "./events/set-aside.ts";
import { consumers } from "./generated/background.ts";
import type { Services } from "./services.ts";

export type { SetAside };

export type Retried = SetAside & { readonly outcome: "handed out" | "failed"; readonly reason: string | null };

/** Events that a consumer could not take, in the order in which they happened. */
export const readSetAside = (config: Config): Promise<SetAside[]> => withServices(config, listSetAside);

/** Hands each of them to its consumer once more; what it cannot take stays set aside. Safe beside running servers. */
export const retrySetAside = (config: Config): Promise<Retried[]> =>
  withServices(config, async (services) => {
    const retried: Retried[] = [];
    for (const aside of await listSetAside(services)) retried.push({ ...aside, ...(await retry(services, aside)) });
    return retried;
  });

async function retry(
  services: Services,
  { consumer: name, eventId }: SetAside,
): Promise<Pick<Retried, "outcome" | "reason">> {
  const consumer = consumers.find((one) => one.name === name);
  if (consumer === undefined) return { outcome: "failed", reason: "this version has no such consumer" };
  try {
    await handOutAgain(services, consumer, eventId);
    return { outcome: "handed out", reason: null };
  } catch (error) {
    return { outcome: "failed", reason: troubleOf(error).what };
  }
}

async function withServices<R>(config: Config, work: (services: Services) => Promise<R>): Promise<R> {
  const services = buildServices({ ...config, logLevel: "silent" });
  try {
    await services.store.migrate();
    return await work(services);
  } finally {
    await services.store.close();
  }
}
