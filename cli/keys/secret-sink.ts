import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { CliError } from "../errors/cli-error.ts";
import { type Sink, sinkText } from "../provisioning/model.ts";
import { secretPath } from "../provisioning/secret-path.ts";
import { deliver, type SinkContext } from "../provisioning/sinks.ts";
import type { Rotation } from "./journal.ts";

/** Where the secret of a rotated key goes: the sinks of a provisioning file, or a command that takes it on stdin. */
export type RotationSink = Sink | { readonly kind: "command"; readonly command: string };

export const rotationSinkText = (sink: RotationSink): string =>
  sink.kind === "command" ? `command:${sink.command}` : sinkText(sink);

type About = Pick<Rotation, "kind" | "id" | "principalId" | "name" | "organization">;

/** Where the new secret of a key goes in a folder; that of a service principal is named after the principal. */
export const rotationPath = (folder: string, { principalId, ...about }: About): string =>
  secretPath(folder, { ...about, id: about.kind === "service-principal" ? (principalId ?? about.id) : about.id });

/** True if the file of a sink already exists. */
export const isOccupied = (sink: RotationSink): boolean => sink.kind === "file" && existsSync(sink.path);

/** Writes a secret to its sink. When this returns, the secret is stored. */
export async function deliverTo(
  sink: RotationSink,
  secret: string,
  about: About & { newId: string },
  context: SinkContext,
): Promise<void> {
  if (sink.kind !== "command") return deliver(sink, secret, context);
  if (context.env["GITHUB_ACTIONS"] === "true") await context.writeUnmasked(`::add-mask::${secret}\n`);
  context.keepOut(secret);
  await feed(sink.command, secret, environment(about, context.env));
}

/** The command gets no credentials of this run. These variables say which key it is. */
function environment(about: About & { newId: string }, env: SinkContext["env"]): Record<string, string> {
  const { RMM_TOKEN: _token, RMM_API_KEY: _key, ...rest } = env;
  const facts = {
    RMM_KEY_KIND: about.kind,
    RMM_KEY_ID: about.newId,
    RMM_KEY_NAME: about.name,
    RMM_KEY_ORGANIZATION: about.organization ?? "",
  };
  return Object.fromEntries(
    Object.entries({ ...rest, ...facts }).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** Runs a shell command with the secret and a line end on its stdin. What it prints goes to stderr. */
function feed(command: string, secret: string, env: Record<string, string>): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) =>
      reject(
        new CliError(`The command given with --secret-command ${why}`, {
          exit: "failure",
          code: "SECRET_COMMAND_FAILED",
        }),
      );
    const child = spawn(command, { shell: true, env, stdio: ["pipe", 2, 2] });
    child.once("error", ({ message }) => fail(`could not be started: ${message}`));
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(`${secret}\n`);
    child.once("close", (code, signal) => (code === 0 ? resolve() : fail(`ended with ${signal ?? code}`)));
  });
}
