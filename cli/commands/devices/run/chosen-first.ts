import { createHash } from "node:crypto";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Context } from "../../../context.ts";
import { configDirOf } from "../../../profile/config-dir.ts";
import { readPrivateJson, writePrivateJson } from "../../../profile/private-files.ts";
import type { Chosen } from "../chosen.ts";
import type { Order } from "./queue.ts";

/** As long as the server knows a key. */
const KEPT_MS = 24 * 60 * 60 * 1_000;

interface Kept {
  readonly server: string;
  readonly type: string;
  readonly devices: readonly Chosen[];
}

const folderOf = ({ shell }: Context): string => join(configDirOf(shell).path, "runs");
const fileOf = (context: Context, key: string): string =>
  join(folderOf(context), `${createHash("sha256").update(key).digest("hex").slice(0, 32)}.json`);

/**
 * Keeps which devices flags have chosen, for a day: a run that is repeated with its key takes the same ones, whatever
 * matches by then. Where nothing can be written a repeated run chooses anew.
 */
export async function keepChosen(context: Context, order: Order, devices: readonly Chosen[]): Promise<void> {
  const some = devices.map(({ id, orgId, orgName, hostname, status }) => ({ id, orgId, orgName, hostname, status }));
  const kept = { server: context.settings.server.value, type: order.type, devices: some };
  await forgetOld(context).catch(() => undefined);
  await writePrivateJson(fileOf(context, order.key), kept).catch(() => undefined);
}

/** The devices that a run with this key chose at first; undefined where none is known. */
export async function chosenFirst(context: Context, type: string): Promise<Chosen[] | undefined> {
  const key = context.globals.idempotencyKey;
  if (key === undefined) return undefined;
  const path = fileOf(context, key);
  const kept = await readPrivateJson<Kept>(path).catch(() => undefined);
  if (kept === undefined || kept.server !== context.settings.server.value || kept.type !== type) return undefined;
  return (await isOld(context, path)) ? undefined : [...kept.devices];
}

async function isOld({ shell }: Context, path: string): Promise<boolean> {
  return shell.now() - (await stat(path)).mtimeMs > KEPT_MS;
}

async function forgetOld(context: Context): Promise<void> {
  const folder = folderOf(context);
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (await isOld(context, path)) await rm(path, { force: true });
  }
}
