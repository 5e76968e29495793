import { readFile } from "node:fs/promises";
import { isIP } from "node:net";

const FILE = process.platform === "win32" ? "C:\\Windows\\System32\\drivers\\etc\\hosts" : "/etc/hosts";
const LOOPBACK = ["127.0.0.1", "::1"];

/** What the machine's hosts file says of a name; `localhost` is known without it. */
export async function addressesInHosts(host: string, file = FILE): Promise<string[]> {
  const name = host.toLowerCase().replace(/\.$/, "");
  const text = await readFile(file, "utf8").catch(() => "");
  const lines = text.split("\n").map((line) => line.replace(/#.*/, "").trim().split(/\s+/));
  const found = lines.flatMap(([address = "", ...names]) =>
    isIP(address) > 0 && !address.includes("%") && names.some((one) => one.toLowerCase() === name) ? [address] : [],
  );
  return found.length === 0 && name === "localhost" ? LOOPBACK : [...new Set(found)];
}
