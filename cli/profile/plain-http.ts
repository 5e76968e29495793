import { CliError } from "../errors/cli-error.ts";
import { commandToType, quoted } from "../errors/commands-to-type.ts";
import type { Globals } from "../globals.ts";
import type { Profile } from "./profiles.ts";
import type { Settings } from "./settings.ts";

/** A host on this machine, where nobody else can read the traffic. */
const isLoopback = (host: string): boolean => /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(host);

const isExposed = (server: string): boolean => {
  const url = new URL(server);
  return url.protocol === "http:" && !isLoopback(url.hostname);
};

/** Refuses plain http to another machine unless the user allowed it, in this run or earlier for this profile. */
export function refusePlainHttp(
  globals: Pick<Globals, "insecureHttp" | "typed">,
  { server, stored, profile }: Settings,
): void {
  if (globals.insecureHttp || !isExposed(server.value) || stored.plainHttp?.includes(server.value)) return;
  throw new CliError(
    `${server.value} (${server.source}) is plain http: everyone on the way could read the credential`,
    {
      exit: "usage",
      code: "PLAIN_HTTP",
      hint: `Use https://; or accept it: \`${again(globals.typed)}\`, or for good: \`${remembering(profile.value, server.value)}\``,
    },
  );
}

function again(typed: readonly string[]): string {
  const words = typed.includes("--") ? ["--insecure-http", ...typed] : [...typed, "--insecure-http"];
  return ["rmm", ...words].map(quoted).join(" ");
}

const remembering = (profile: string, server: string): string =>
  commandToType(["profile", "add", profile], { server, "insecure-http": true }, {});

/** For a profile whose server no call will reach; undefined where all is well. */
export const plainHttpNotice = (name: string, { server, plainHttp }: Profile): string | undefined =>
  server === undefined || !isExposed(server) || plainHttp?.includes(server)
    ? undefined
    : `${server} is plain http, and calls to it are refused: use https://, or accept it with \`${remembering(name, server)}\``;

/** What a profile stores for `--insecure-http`. */
export const withPlainHttp = (profile: Profile, globals: Pick<Globals, "insecureHttp">, server: string): Profile =>
  globals.insecureHttp && isExposed(server)
    ? { ...profile, plainHttp: [...new Set([...(profile.plainHttp ?? []), server])] }
    : profile;
