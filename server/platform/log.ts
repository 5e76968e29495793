import { escapeControls } from "#contract/core/characters";

/** One JSON object a line. Fields are chosen by the caller; whole requests, bodies and headers are never logged. */
export interface Log {
  debug(event: string, fields?: Fields): void;
  info(event: string, fields?: Fields): void;
  warn(event: string, fields?: Fields): void;
  error(event: string, fields?: Fields): void;
}

export type Fields = Record<string, unknown>;

export const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

export function jsonLog(level: LogLevel, write: (line: string) => void): Log {
  const from = logLevels.indexOf(level);
  const at = (name: Exclude<LogLevel, "silent">) =>
    logLevels.indexOf(name) < from
      ? () => undefined
      : (event: string, fields: Fields = {}) =>
          write(
            `${escapeControls(JSON.stringify({ time: new Date().toISOString(), level: name, event, ...printable(fields) }))}\n`,
          );
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/**
 * Joins the lines of one turn of the event loop into one write: a write for each costs a tenth of a request (measured).
 * What is pending is written when the process ends of itself.
 */
export function inTurns(write: (text: string) => void): (line: string) => void {
  let pending = "";
  const flush = () => {
    const text = pending;
    pending = "";
    if (text !== "") write(text);
  };
  process.on("exit", flush);
  return (line) => {
    if (pending === "") setImmediate(flush);
    pending += line;
  };
}

/** Errors print their message and stack; everything else as JSON does. */
function printable(fields: Fields): Fields {
  const out: Fields = {};
  for (const [name, value] of Object.entries(fields)) {
    out[name] = value instanceof Error ? describe(value) : value;
  }
  return out;
}

function describe(error: Error): Fields {
  const cause = error.cause instanceof Error ? { cause: describe(error.cause) } : {};
  return { name: error.name, message: error.message, stack: error.stack, ...cause };
}

export const silentLog: Log = jsonLog("silent", () => undefined);
