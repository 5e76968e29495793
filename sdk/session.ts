import { AbortedError, type ErrorFacts, RmmError, UnauthenticatedError } from "./errors.ts";
import { pause } from "./retry.ts";

export interface SessionTokens {
  accessToken: string;
  refreshToken?: string | undefined;
  /** When the access token ends; read from the token itself when it is not given. */
  expiresAtMs?: number | undefined;
}

/** Where tokens live. A store shared by processes must lock: each refresh token works once. */
export interface SessionStore {
  read(): Promise<SessionTokens | undefined>;
  /** Has stored the pair durably when it resolves: the old refresh token is already spent. */
  write(tokens: SessionTokens): Promise<void>;
  clear(): Promise<void>;
  /** Runs `work` while no other holder of the store runs theirs. */
  withLock<T>(work: () => Promise<T>): Promise<T>;
}

/** Tokens of this process only. */
export function memoryStore(tokens?: SessionTokens): SessionStore {
  let held = tokens;
  return {
    read: async () => held,
    write: async (next) => {
      held = next;
    },
    clear: async () => {
      held = undefined;
    },
    withLock: (work) => work(),
  };
}

export interface TokenPairAnswer {
  accessToken: string;
  refreshToken: string;
  expiresIn: number;
}

const EARLY_MS = 60_000;
const RACE_PAUSE_MS = 200;
const RACE_LOOKS = 5;

/** A user's session: returns an access token, and refreshes it only once for any number of parallel calls. */
export class UserSession {
  #known: SessionTokens | undefined;
  #refreshing: Promise<SessionTokens> | undefined;
  readonly #store: SessionStore;
  readonly #refresh: (refreshToken: string) => Promise<TokenPairAnswer>;
  readonly #now: () => number;

  constructor(store: SessionStore, refresh: (refreshToken: string) => Promise<TokenPairAnswer>, now: () => number) {
    this.#store = store;
    this.#refresh = refresh;
    this.#now = now;
  }

  /** An access token that is valid for at least a minute, if it can be refreshed. */
  async accessToken(signal: AbortSignal): Promise<string> {
    this.#known ??= await this.#store.read();
    const tokens = this.#known;
    if (tokens === undefined) throw notSignedIn();
    if (!this.#endsWithin(tokens, EARLY_MS) || tokens.refreshToken === undefined) return tokens.accessToken;
    try {
      return (await this.#renewed(tokens, signal)).accessToken;
    } catch (error) {
      const refused = error instanceof UnauthenticatedError || error instanceof AbortedError || signal.aborted;
      if (refused || this.#endsWithin(tokens, 0)) throw error;
      return tokens.accessToken;
    }
  }

  /** After a 401: true when there is another token than the one that was refused. */
  async renew(refused: string, signal: AbortSignal): Promise<boolean> {
    const tokens = this.#known ?? (await this.#store.read());
    if (tokens === undefined) return false;
    if (tokens.accessToken !== refused) return true;
    if (tokens.refreshToken === undefined) return false;
    return (await this.#renewed(tokens, signal)).accessToken !== refused;
  }

  /** Goes on with these tokens, stored before they are used. */
  async adopt(pair: TokenPairAnswer | SessionTokens): Promise<void> {
    const tokens = this.#dated(pair);
    await this.#store.withLock(() => this.#store.write(tokens));
    this.#known = tokens;
  }

  async forget(): Promise<void> {
    await this.#store.withLock(() => this.#store.clear());
    this.#known = undefined;
  }

  /** One refresh for all callers; a caller that gives up stops waiting, but the new pair is still stored. */
  #renewed(stale: SessionTokens, signal: AbortSignal): Promise<SessionTokens> {
    this.#refreshing ??= this.#store
      .withLock(() => this.#exchange(stale))
      .then((tokens) => {
        this.#known = tokens;
        return tokens;
      })
      .finally(() => {
        this.#refreshing = undefined;
      });
    return unlessAborted(this.#refreshing, signal);
  }

  async #exchange(stale: SessionTokens): Promise<SessionTokens> {
    const stored = await this.#store.read();
    if (stored === undefined) throw notSignedIn();
    if (stored.accessToken !== stale.accessToken && !this.#endsWithin(stored, EARLY_MS)) return stored;
    if (stored.refreshToken === undefined) throw notSignedIn();
    try {
      const next = this.#dated(await this.#refresh(stored.refreshToken));
      await this.#store.write(next);
      return next;
    } catch (error) {
      if (!(error instanceof RmmError) || error.code !== "REFRESH_RACED") throw error;
      return this.#writtenByAnother(stored.accessToken, error);
    }
  }

  /** Another process without this lock has refreshed first and is about to store its pair. */
  async #writtenByAnother(spent: string, error: RmmError): Promise<SessionTokens> {
    for (let look = 0; look < RACE_LOOKS; look++) {
      await pause(RACE_PAUSE_MS, new AbortController().signal);
      const stored = await this.#store.read();
      if (stored !== undefined && stored.accessToken !== spent) return stored;
    }
    throw error;
  }

  #dated(pair: TokenPairAnswer | SessionTokens): SessionTokens {
    const { accessToken, refreshToken } = pair;
    const expiresAtMs = "expiresIn" in pair ? this.#now() + pair.expiresIn * 1000 : pair.expiresAtMs;
    return { accessToken, refreshToken, expiresAtMs: expiresAtMs ?? endOf(accessToken) };
  }

  #endsWithin(tokens: SessionTokens, marginMs: number): boolean {
    const end = tokens.expiresAtMs ?? endOf(tokens.accessToken);
    return end !== undefined && end - this.#now() <= marginMs;
  }
}

/** `exp` of a JWT in milliseconds; undefined for any other token. */
function endOf(token: string): number | undefined {
  try {
    const payload = (token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/");
    const { exp } = JSON.parse(atob(payload)) as { exp?: unknown };
    return typeof exp === "number" ? exp * 1000 : undefined;
  } catch {
    return undefined;
  }
}

const notSignedInFacts: ErrorFacts = { code: "NOT_SIGNED_IN", outcome: "not_sent" };
const notSignedIn = () => new UnauthenticatedError("Not signed in", notSignedInFacts);

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    // Handled even if no caller waits any more, because an unhandled rejection ends the process.
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
