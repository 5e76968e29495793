import { foldName } from "#contract/core/characters";
import type { elevationStatuses } from "#contract/core/elevation";
import { DAY } from "#server/platform/clock";

export type ElevationStatus = (typeof elevationStatuses)[number];

/** Every change of status there is (docs/elevation-requests.md, "States"). Final statuses lead nowhere. */
export const transitions = {
  pending: ["approved", "denied", "expired"],
  approved: ["actuating", "revoked", "expired"],
  auto_approved: ["revoked", "expired"],
  actuating: ["revoked", "expired"],
  denied: [],
  expired: [],
  revoked: [],
} as const satisfies Record<ElevationStatus, readonly ElevationStatus[]>;

/** The statuses that lead to one. */
export const leadingTo = (to: ElevationStatus): ElevationStatus[] =>
  (Object.keys(transitions) as ElevationStatus[]).filter((from) =>
    (transitions[from] as readonly ElevationStatus[]).includes(to),
  );

export const CRITICAL = 4;
export const HIGH = 3;
/** So long after it ceased to be one, a device still counts as a server. */
export const SERVER_MS = DAY;

export const isServer = (device: { deviceRole: string; osVersion: string }): boolean =>
  device.deviceRole === "server" || device.osVersion.toLowerCase().includes("server");

/** Of rights for an account on this device. */
export const tierOfAccount = (server: boolean): number => (server ? CRITICAL : HIGH);

interface Person {
  readonly userId: string;
  readonly email: string;
}

/**
 * Whether the rights are for the caller: by account, or by name as a whole, after its domain or before its realm. A
 * namesake asks a colleague.
 */
export function isSubject(
  { subjectUserId, subjectUsername }: { subjectUserId: string | null; subjectUsername: string },
  { userId, email }: Person,
): boolean {
  if (subjectUserId === userId) return true;
  const own = [email, before(email, "@")].map(foldName);
  // Folded first: the marks have wide forms too.
  const whole = foldName(subjectUsername);
  const short = whole.slice(whole.lastIndexOf("\\") + 1);
  const names = [whole, short, before(whole, "@"), before(short, "@")].map(foldName);
  return names.some((name) => name !== "" && own.includes(name));
}

const before = (text: string, mark: string) => (text.includes(mark) ? text.slice(0, text.indexOf(mark)) : text);
