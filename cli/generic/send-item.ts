import type { RmmClient } from "#sdk/client";
import type { CommandSpec } from "../manifest.ts";
import { tooManyGenerations } from "../provisioning/create-once.ts";
import { deadSecret, type Replay, replayOf } from "../provisioning/replay.ts";
import type { Sender } from "../provisioning/sender.ts";
import type { Existing } from "./existing.ts";
import type { Draft, Invocation } from "./invocation.ts";
import { type About, type ItemOutcome, idIn } from "./item-outcome.ts";
import type { Names } from "./names.ts";
import { pointingAt } from "./pointing-at.ts";
import type { SecretDir } from "./secret-dir.ts";
import { keptText, mints, secretTexts, topSecrets } from "./secret-fields.ts";
import { send } from "./send.ts";
import { labelOf } from "./subject.ts";

export interface Tools {
  readonly client: RmmClient;
  readonly sender: Sender;
  readonly existing: Existing;
  /** Where the secrets go; undefined: they are part of the result. */
  readonly secrets: SecretDir | undefined;
}

interface Item {
  readonly draft: Draft;
  readonly about: About;
  readonly keys: readonly string[];
}

type Sent = Pick<ItemOutcome, "outcome" | "result" | "note" | "secretFile">;

/** Sends one entry of a list. What is there already is left alone, and a secret that no longer works is not told again. */
export async function sendItem(invocation: Invocation, tools: Tools, item: Item): Promise<Sent> {
  const { spec } = invocation;
  const { draft } = item;
  if (draft.failure !== undefined) throw draft.failure;
  const row = await tools.existing.find(draft);
  if (row !== undefined) return { outcome: "exists", result: row, ...(mints(spec) && { note: SHOWN_BEFORE }) };
  const target = draft.params[spec.params.at(-1) as string];
  if (spec.loses === "secret" && target !== undefined) tools.secrets?.refuseTaken(target);
  const namesake = await tools.existing.namesake(draft);
  const { data, replayed, secret } = await pointingAt(invocation.context, draft, () =>
    answerOf(invocation, tools, item),
  );
  const outcome = replayed ? "exists" : "done";
  if (namesake !== undefined && !replayed) return { outcome, result: data, note: namesake };
  if (replayed && secret !== "current") return { outcome, result: withoutSecrets(spec, data), note: NO_LONGER_WORKS };
  if (tools.secrets === undefined) return { outcome, result: data };
  return { outcome, result: withoutSecrets(spec, data), ...(await keep(invocation, tools.secrets, { item, data })) };
}

const SHOWN_BEFORE = "its secret is shown only once, when it is made";
const NO_LONGER_WORKS = "its first secret no longer works: it was replaced, used up or has expired";

interface Answered extends Replay {
  readonly data: Record<string, unknown>;
}

async function answerOf(
  { context, spec }: Invocation,
  { client, sender }: Tools,
  { draft, keys }: Item,
): Promise<Answered> {
  const tries = keys.length === 0 ? [undefined] : keys;
  for (const key of tries) {
    const repeatable = key !== undefined || ["PUT", "DELETE"].includes(spec.method);
    const { data, response } = await sender.send(() => send(client, context, spec, draft, key).withResponse(), {
      repeatable,
    });
    const replay = replayOf(response);
    if (!replay.replayed || replay.secret !== "gone") return { data: data as Record<string, unknown>, ...replay };
  }
  throw tries.length > 1 ? tooManyGenerations() : deadSecret("gone", "Another --idempotency-key makes it anew");
}

const withoutSecrets = (spec: CommandSpec, data: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(data).filter(([name]) => !topSecrets(spec).includes(name)));

/** Keeps the secrets of an answer as `--secret-file` does: one as it is, several as a JSON object. */
async function keep(
  { spec, names }: Invocation,
  dir: SecretDir,
  { item: { draft, about }, data }: { item: Item; data: Record<string, unknown> },
): Promise<Pick<ItemOutcome, "secretFile">> {
  const made = topSecrets(spec).filter((name) => data[name] !== undefined && data[name] !== null);
  if (made.length === 0) return {};
  const [only = ""] = made;
  const isText = made.length === 1 && typeof data[only] === "string";
  const text =
    made.length === 1 ? keptText(data[only]) : JSON.stringify(Object.fromEntries(made.map((one) => [one, data[one]])));
  const kind = spec.kind ?? spec.noun;
  const own = draft.params[spec.params.at(-1) as string] ?? draft.body["userId"];
  const orgId = data["orgId"] ?? draft.body["orgId"] ?? draft.params["orgId"];
  const path = await dir.keep(
    {
      kind,
      id: idIn(data) ?? String(own ?? about.item.line),
      name: labelOf(spec.kind, data) ?? about.item.name ?? kind,
      organization: typeof orgId === "string" ? await slugOf(names, orgId) : null,
    },
    {
      text,
      ending: isText ? "key" : "json",
      secrets: secretTexts(spec, data),
      remedy: spec.loses === "secret" ? "Make another" : "Repeat the command: for a day the same secrets come again",
    },
  );
  return { secretFile: path };
}

/** Its id where the caller may list no organizations. */
async function slugOf(names: Names, orgId: string): Promise<string> {
  await names.orgName(orgId).catch(() => undefined);
  return names.known(orgId)?.slug ?? orgId;
}
