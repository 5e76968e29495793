import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Networks of IPv4 and IPv6, read once. */
export type Networks = readonly (readonly [Address, number])[];

/** An address in its one spelling: IPv4 where IPv6 maps one, without zone; undefined for what is no address. */
export function canonicalAddress(text: string | undefined): string | undefined {
  return parse(text)?.toString();
}

/**
 * The client that limits by address count for: an IPv4 address, or the /64 of an IPv6 address, all of which one host
 * may use at will.
 */
export function clientBlock(ip: string | null): string {
  const address = parse(ip ?? undefined);
  if (address === undefined) return "unknown";
  if (address.kind() === "ipv4") return address.toString();
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/64`);
  return `${network.toString()}/64`;
}

/** Throws on anything but an address or a network in CIDR form, of canonical or any other spelling. */
export function networks(texts: readonly string[]): Networks {
  return texts.map(network);
}

/** Whether an address lies in one of the networks; IPv4 networks hold IPv4 addresses alone. */
export function liesIn(ip: string | null, list: Networks): boolean {
  const address = parse(ip ?? undefined);
  return address !== undefined && list.some((range) => address.kind() === range[0].kind() && address.match([...range]));
}

function network(text: string): readonly [Address, number] {
  const [head = "", prefix, ...rest] = text.split("/");
  const strict = ipaddr.IPv4.isValidFourPartDecimal(head) || ipaddr.IPv6.isValid(head);
  if (!strict || head.includes("%") || rest.length > 0) throw new Error("no address");
  if (prefix !== undefined && !/^\d{1,3}$/.test(prefix)) throw new Error("no prefix length");
  const address = ipaddr.parse(head);
  const whole = address.kind() === "ipv4" ? 32 : 128;
  const bits = prefix === undefined ? whole : Number(prefix);
  if (bits > whole) throw new Error("no prefix length");
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= 96)
    return [address.toIPv4Address(), bits - 96];
  return [address, bits];
}

function parse(text: string | undefined): Address | undefined {
  const plain = text?.split("%")[0] ?? "";
  if (!ipaddr.IPv4.isValidFourPartDecimal(plain) && !ipaddr.IPv6.isValid(plain)) return undefined;
  return ipaddr.process(plain);
}
