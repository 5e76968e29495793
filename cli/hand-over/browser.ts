import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** A program and its arguments, the address among them. */
export type Launch = readonly [file: string, ...args: string[]];

/** How to open the address: the first of these commands that starts; or manually, and why. */
export type BrowserPlan = { readonly launches: readonly Launch[] } | { readonly byHand: "ssh" | "no display" };

/**
 * Over SSH a browser would start on the other machine, or as text over this terminal, whatever BROWSER says. Elsewhere
 * BROWSER names it: a list of commands, `%s` for the address. `rundll32` is the Windows equivalent of `start` without a
 * shell, in which the `&` of an address would end the command.
 */
export function planBrowser(url: string, env: Environment, platform: string): BrowserPlan {
  if (isOverSsh(env)) return { byHand: "ssh" };
  const chosen = launchesOf(env["BROWSER"] ?? "", url);
  if (chosen.length > 0) return { launches: chosen };
  if (platform === "darwin") return { launches: [["open", url]] };
  if (platform === "win32") return { launches: [["rundll32", "url.dll,FileProtocolHandler", url]] };
  const hasDisplay = [env["DISPLAY"], env["WAYLAND_DISPLAY"]].some((one) => one !== undefined && one !== "");
  return hasDisplay ? { launches: [["xdg-open", url]] } : { byHand: "no display" };
}

const isOverSsh = (env: Environment): boolean =>
  ["SSH_CONNECTION", "SSH_TTY"].some((name) => env[name] !== undefined && env[name] !== "");

function launchesOf(text: string, url: string): Launch[] {
  const commands = existsSync(text) ? [[text]] : text.split(delimiter).map((one) => one.split(/\s+/).filter(Boolean));
  return commands.flatMap(([file, ...args]) => {
    if (file === undefined) return [];
    const filled = args.map((arg) => arg.replaceAll("%s", () => url));
    return [[file, ...(args.some((arg) => arg.includes("%s")) ? filled : [...args, url])] as const];
  });
}

/** Starts the first command that works and detaches it. False if none does. */
export async function startBrowser(launches: readonly Launch[], env: Environment): Promise<boolean> {
  for (const launch of launches) if (await start(launch, env)) return true;
  return false;
}

function start([file, ...args]: Launch, env: Environment): Promise<boolean> {
  // The variables of this program, which may hold credentials, are not passed to the browser.
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("RMM_")));
  return new Promise((resolve) => {
    const child = spawn(file, args, { detached: true, stdio: "ignore", shell: false, env: own, windowsHide: true });
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}
