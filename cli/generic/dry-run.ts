import { endpoints } from "#sdk/generated/endpoints";
import { prepare } from "#sdk/prepare";
import type { Context } from "../context.ts";
import type { CommandSpec } from "../manifest.ts";
import { formatOf, printResult } from "../output/print.ts";
import { writeTo } from "../shell.ts";
import type { Draft } from "./invocation.ts";
import { inputOf } from "./send.ts";

/** Prints the requests that would be sent, secrets masked; nothing is changed. Returns the exit code. */
export async function dryRun(context: Context, spec: CommandSpec, drafts: readonly Draft[]): Promise<number> {
  const requests = await Promise.all(drafts.map((draft) => requestOf(context, spec, draft)));
  const format = formatOf(context);
  if (format !== "table" && format !== "tsv") {
    await printResult(context, requests.length === 1 ? requests[0] : requests, { fields: [] });
    return 0;
  }
  await writeTo(context.shell, "stdout", requests.map(requestText).join("\n"));
  return 0;
}

async function requestOf(context: Context, spec: CommandSpec, draft: Draft) {
  const endpoint = endpoints[spec.sdkNoun]![spec.sdkVerb]!;
  const { idempotencyKey } = context.globals;
  const base = `${context.settings.server.value}/api/v1`;
  const { method, url, headers, shownBody } = prepare(base, endpoint, inputOf(spec, draft), { idempotencyKey });
  const credential = spec.access.kinds.includes("public") ? undefined : await context.credential();
  const proof =
    credential === undefined
      ? {}
      : ["user", "agent"].includes(credential.kind)
        ? { authorization: "Bearer ********" }
        : { "x-api-key": "********" };
  return { method, url: shownUrl(url, spec), headers: { ...headers, ...proof }, body: shownBody ?? null };
}

function shownUrl(url: string, spec: CommandSpec): string {
  const shown = new URL(url);
  for (const { name, secret } of spec.query)
    if (secret && shown.searchParams.has(name)) shown.searchParams.set(name, "********");
  return shown.href;
}

function requestText({ method, url, headers, body }: Awaited<ReturnType<typeof requestOf>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${url}`, ...lines, ...(body === null ? [] : ["", JSON.stringify(body, null, 2)]), ""].join("\n");
}
