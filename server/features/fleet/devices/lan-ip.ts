interface Address {
  interfaceName: string;
  ipAddress: string | null;
  isPrimaryInterface: boolean;
}

/** Loopback and link-local addresses cannot be reached from other machines. */
const unreachable = /^(127\.|169\.254\.|::1$|fe[89ab][0-9a-f]:|0\.0\.0\.0$|::$)/i;

/** Address on the local network: the primary interface's, else the first usable one (docs/fleet.md, "Devices"). */
export function lanIpOf(interfaces: readonly Address[]): string | null {
  const usable = interfaces.filter((item) => item.ipAddress !== null && !unreachable.test(item.ipAddress));
  const inOrder = usable.toSorted(
    (a, b) =>
      Number(b.isPrimaryInterface) - Number(a.isPrimaryInterface) ||
      (a.interfaceName < b.interfaceName ? -1 : a.interfaceName > b.interfaceName ? 1 : 0),
  );
  return inOrder[0]?.ipAddress ?? null;
}
