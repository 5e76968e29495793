import { BlockList, isIP } from "node:net";

/** Whether an address is in one of these addresses or networks, IPv4 or IPv6; an empty list allows every address. */
export function comesFrom(ip: string | null, allowed: readonly string[]): boolean {
  if (allowed.length === 0) return true;
  // `fe80::1%eth0`: the zone is the server's own business.
  const address = ip?.split("%")[0] ?? "";
  const family = isIP(address);
  if (family === 0) return false;
  const list = new BlockList();
  // A list of both would match IPv4 with `::/0`, as the addresses that IPv6 maps it to.
  for (const item of allowed) if (isIP(item.split("/")[0] ?? "") === family) add(list, item);
  return list.check(address, familyName(family));
}

/** Whether this can be read as an address or a network. */
export function isSourceCidr(text: string): boolean {
  try {
    add(new BlockList(), text);
    return true;
  } catch {
    return false;
  }
}

const familyName = (family: number) => (family === 4 ? "ipv4" : "ipv6");

function add(list: BlockList, text: string): void {
  const [address = "", prefix, ...rest] = text.split("/");
  const family = isIP(address);
  if (family === 0 || rest.length > 0 || address.includes("%")) throw new Error("no address");
  const whole = family === 4 ? 32 : 128;
  const bits = prefix === undefined ? whole : Number(prefix);
  if (!/^\d{1,3}$/.test(prefix ?? "0") || bits > whole) throw new Error("no prefix length");
  list.addSubnet(address, bits, familyName(family));
}
