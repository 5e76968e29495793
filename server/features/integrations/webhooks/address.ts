import querystring from "node:querystring";
import { invalid } from "#server/problem";

const MASK = "********";

/**
 * The address as it may be shown: user, password and every value of the query are secrets that receivers hand out
 * (docs/integrations.md, "Webhooks").
 */
export function shownAddress(address: string): string {
  const url = new URL(address);
  if (!url.username && !url.password && url.search === "") return address;
  if (url.username) url.username = MASK;
  if (url.password) url.password = MASK;
  url.search = url.search
    .slice(1)
    .split("&")
    .map((part) => (part === "" ? "" : part.includes("=") ? `${part.slice(0, part.indexOf("="))}=${MASK}` : MASK))
    .join("&");
  return url.href;
}

/** The address as it is shown stands for the one that is stored. */
export const standsFor = (given: string, shown: string): boolean =>
  given === shown || (URL.canParse(given) && new URL(given).href === new URL(shown).href);

/** Refuses a mask where no stored value can be meant. */
export function refuseMask(address: string): void {
  const { username, password, search } = new URL(address);
  const masked = [username, password, ...search.slice(1).split(/[&=]/)].includes(MASK);
  if (masked) throw invalid({ path: "url", message: `url: ${MASK} stands for a stored value; there is none` });
}

/** Scheme, host and port: where its secrets go. */
export function targetOf(address: string): string {
  const { protocol, host } = new URL(address);
  return `${protocol}//${host}`;
}

/** The address without user and password, and what they are sent as. */
export function splitCredentials(address: string): { url: string; authorization?: string } {
  const url = new URL(address);
  if (!url.username && !url.password) return { url: address };
  const pair = credentialsOf(url).join(":");
  url.username = "";
  url.password = "";
  return { url: url.href, authorization: `Basic ${Buffer.from(pair).toString("base64")}` };
}

/** User and password as they are meant; `%` that begins no escape stands for itself. */
const credentialsOf = ({ username, password }: URL): string[] => [username, password].map(querystring.unescape);

/** The values in an address that no log may hold. */
export function secretsIn(address: string): string[] {
  const url = new URL(address);
  const values = [...url.searchParams.values(), ...url.search.slice(1).split(/[&=]/), url.username, url.password];
  return [...values, ...credentialsOf(url), splitCredentials(address).authorization?.slice("Basic ".length) ?? ""];
}
