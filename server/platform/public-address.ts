import { BlockList, isIP } from "node:net";

/** Everything of IANA's special-purpose registry that is not reachable worldwide, and multicast. */
const notPublic4 = subnets("ipv4", [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  // A cloud's address for its own machines, out of public space; the others' lie in the ranges here.
  "168.63.129.16/32",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
]);

/** Outside of 2000::/3 nothing is; inside, protocol assignments (Teredo among them) and documentation are not. */
const global6 = subnets("ipv6", ["2000::/3"]);
const notPublic6 = subnets("ipv6", ["2001::/23", "2001:db8::/32", "3fff::/20"]);

/** IPv6 prefixes that carry an IPv4 address which the packet ends up at, and the group it begins at. */
const carriers: readonly [BlockList, number][] = [
  [subnets("ipv6", ["::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96"]), 6],
  [subnets("ipv6", ["2002::/16"]), 1],
];

/**
 * Whether an address is of the public internet. An IPv6 address that stands for an IPv4 one (mapped, translated, NAT64,
 * 6to4) is as public as that one; anything that is no address is not.
 */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !notPublic4.check(address, "ipv4");
  if (family === 0 || address.includes("%")) return false;
  const carried = carriedIpv4(address);
  if (carried !== undefined) return isPublicAddress(carried);
  return global6.check(address, "ipv6") && !notPublic6.check(address, "ipv6");
}

const ownNetwork4 = subnets("ipv4", ["10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"]);
const ownNetwork6 = subnets("ipv6", ["::1/128", "fc00::/7"]);
/** Where clouds hand credentials to their machines, inside ranges that are anybody's otherwise. */
const metadata4 = subnets("ipv4", ["100.100.100.200/32"]);
const metadata6 = subnets("ipv6", ["fd00:ec2::254/128", "fd20:ce::254/128"]);

/**
 * Whether an address is of this machine or a network of one's own. Link-local addresses and those of a cloud's metadata
 * are not: nobody has a receiver there.
 */
export function isOwnNetwork(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return ownNetwork4.check(address, "ipv4") && !metadata4.check(address, "ipv4");
  if (family === 0 || address.includes("%")) return false;
  const carried = carriedIpv4(address);
  if (carried !== undefined) return isOwnNetwork(carried);
  return ownNetwork6.check(address, "ipv6") && !metadata6.check(address, "ipv6");
}

function carriedIpv4(address: string): string | undefined {
  const carrier = carriers.find(([prefixes]) => prefixes.check(address, "ipv6"));
  if (!carrier) return undefined;
  const [high = 0, low = 0] = groupsOf(address).slice(carrier[1], carrier[1] + 2);
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

/** The eight groups of an IPv6 address, however it is written. */
function groupsOf(address: string): number[] {
  // The URL parser writes a trailing dotted quad as two groups.
  const plain = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [head = "", tail] = plain.split("::");
  const read = (part: string) => (part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16)));
  const before = read(head);
  const after = read(tail ?? "");
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

function subnets(family: "ipv4" | "ipv6", networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/");
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}
