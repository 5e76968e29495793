import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { stripVTControlCharacters } from "node:util";
import { RMM } from "../fault/processes.ts";

/** BSD and BusyBox have programs of that name that take other flags. */
export const hasScript = String(spawnSync("script", ["--version"]).stdout).includes("util-linux");

export const whyNoScript = "no `script` of util-linux: install the package that has it";

const PATIENCE_MS = 30_000;

export interface Ended {
  code: number | null;
  /** What `stty -g` tells of the terminal. */
  before: string | undefined;
  after: string | undefined;
}

/** The command on a pseudo-terminal of its own. */
export interface Terminal {
  /** Everything that reached the terminal, as it came. */
  written(): string;
  /** Resolves once this is shown after what was waited for last, so that waits are in the order of what is read. */
  shows(text: string | RegExp): Promise<void>;
  type(keys: string): void;
  readonly done: Promise<Ended>;
  kill(): void;
}

/**
 * Runs the built `rmm`; words of `argv` have nothing that a shell would read. The terminal echoes, as that of a person
 * does, and is too wide to break a line. Ctrl-C in it must end `rmm` and not the shell, which has yet to tell the settings.
 */
export function openTerminal(argv: readonly string[], env: Record<string, string>): Terminal {
  const session = [
    "stty sane cols 300 rows 40",
    "trap : INT",
    'echo "before=$(stty -g)"',
    `"$NODE" "$RMM_FILE" ${argv.join(" ")}`,
    "code=$?",
    // Behind the ^C that the terminal echoes.
    'printf "\\nafter=%s\\n" "$(stty -g)"',
    "exit $code",
  ].join("\n");
  const child = spawn("script", ["-qec", session, "/dev/null"], {
    env: { PATH: process.env["PATH"] ?? "", TERM: "xterm", NODE: process.execPath, RMM_FILE: RMM, ...env },
  });
  let raw = "";
  let read = 0;
  child.stdin.on("error", () => undefined);
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      raw += text;
      child.emit("shown");
    });
  const setting = (when: string) => new RegExp(`^${when}=(\\S+)`, "m").exec(raw)?.[1];
  const done = once(child, "close").then(
    ([code]): Ended => ({ code: code as number | null, before: setting("before"), after: setting("after") }),
  );
  /** Moves on behind the text if it is there. */
  const found = (text: string | RegExp): boolean => {
    const rest = stripVTControlCharacters(raw).slice(read);
    const at = typeof text === "string" ? rest.indexOf(text) : rest.search(text);
    if (at < 0) return false;
    read += at + (typeof text === "string" ? text : (text.exec(rest) as RegExpExecArray)[0]).length;
    return true;
  };
  return {
    written: () => raw,
    type: (keys) => void child.stdin.write(keys),
    done,
    kill: () => void child.kill(),
    shows: (text) =>
      new Promise((resolve, reject) => {
        const end = (why?: string) => {
          clearTimeout(timer);
          child.off("shown", look).off("close", gone);
          if (why === undefined) resolve();
          else reject(new Error(`${why}: ${text}\n${stripVTControlCharacters(raw).slice(read)}`));
        };
        const look = () => void (found(text) && end());
        const gone = () => end("ended without showing");
        const timer = setTimeout(() => end("does not show"), PATIENCE_MS);
        child.on("shown", look).once("close", gone);
        look();
      }),
  };
}
