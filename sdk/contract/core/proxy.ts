/** The proxy that a request goes through. */
export interface HttpProxy {
  /** Without user and password; also what messages call it. */
  readonly address: string;
  /** Value of `Proxy-Authorization`, where a user is given. */
  readonly authorization: string | undefined;
}

/** An environment: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, in capitals or not. */
export type ProxyVariables = Readonly<Record<string, string | undefined>>;

/**
 * The proxy for a request, as the environment says; undefined = straight. This machine itself is never asked through a
 * proxy. Throws for a value that is no address; the message names the variable and never the value.
 */
export function proxyFor(target: URL, env: ProxyVariables): HttpProxy | undefined {
  const name = target.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const text = variable(env, name);
  if (text === undefined || goesStraight(target, variable(env, "NO_PROXY") ?? "")) return undefined;
  const spelled = text.includes("://") ? text : `http://${text}`;
  if (!URL.canParse(spelled) || !/^https?:/.test(spelled)) {
    throw new TypeError(`${name} must be an address such as http://proxy.example:3128`);
  }
  const { protocol, host, username, password } = new URL(spelled);
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { address: `${protocol}//${host}`, authorization: username === "" ? undefined : `Basic ${base64(pair)}` };
}

/** Small letters first, as curl has it; an empty value is none. */
const variable = (env: ProxyVariables, name: string): string | undefined =>
  env[name.toLowerCase()]?.trim() || env[name]?.trim() || undefined;

const base64 = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

const withoutBrackets = (host: string): string => host.replace(/^\[|\]$/g, "").toLowerCase();

/** `NO_PROXY`: names with everything below them, addresses, IPv4 networks, `*`, each with a port where one is meant. */
function goesStraight(target: URL, list: string): boolean {
  const host = withoutBrackets(target.hostname);
  if (/^(localhost|.+\.localhost|127(\.\d{1,3}){3}|::1)$/.test(host)) return true;
  const port = target.port || (target.protocol === "https:" ? "443" : "80");
  return list.split(/[\s,]+/).some((entry) => {
    const [, name = entry, only] = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(entry) ?? [];
    if (entry === "" || (only !== undefined && only !== port)) return false;
    const wanted = withoutBrackets(name).replace(/^\*?\./, "");
    return wanted === "*" || host === wanted || host.endsWith(`.${wanted}`) || isWithin(host, wanted);
  });
}

function isWithin(host: string, network: string): boolean {
  const [base = "", bits = ""] = network.split("/");
  const [one, other] = [ipv4(host), ipv4(base)];
  if (one === undefined || other === undefined || !/^\d{1,2}$/.test(bits)) return false;
  const size = 2 ** (32 - Number(bits));
  return Math.floor(one / size) === Math.floor(other / size);
}

const ipv4 = (text: string): number | undefined =>
  /^\d{1,3}(\.\d{1,3}){3}$/.test(text) ? text.split(".").reduce((sum, part) => sum * 256 + Number(part), 0) : undefined;
