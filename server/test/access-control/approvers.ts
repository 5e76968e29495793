import { Authenticator, type Said } from "#fixtures/simulators/authenticator";
import type { Answer, SignedInUser, TestUser } from "../harness.ts";
import { PASSWORD, seedPerson } from "../people.ts";
import type { ElevationWorld } from "./elevation-world.ts";

export const PUBLIC_URL = "https://rmm.example";
const DEVICES = "/authenticator/devices";

type Made = ConstructorParameters<typeof Authenticator>[0];

/** A person with a password, who may approve in the organization. */
export const approverWithout = (world: ElevationWorld, more: Partial<TestUser> = {}): Promise<SignedInUser> =>
  seedPerson(world.server, { role: "Org Admin", orgId: world.orgId, ...more } as TestUser);

/** What a browser on the server's own page answers, but for what is given. */
const onPage = (said: Partial<Said>): Said => ({ origin: PUBLIC_URL, ...said });

export const beginRegistering = (
  world: ElevationWorld,
  who: SignedInUser,
  body: object = { currentPassword: PASSWORD },
) => world.request("POST", `${DEVICES}/webauthn/options`, body, who);

export const finishRegistering = (world: ElevationWorld, who: SignedInUser, response: object, label = "laptop") =>
  world.request("POST", `${DEVICES}/webauthn/verify`, { response, label }, who);

/** Registers an authenticator of the person; what is said otherwise makes it fail. */
export async function register(
  world: ElevationWorld,
  who: SignedInUser,
  { device = new Authenticator(), said = {} }: { device?: Authenticator; said?: Partial<Said> } = {},
): Promise<Answer> {
  const { status, body } = await beginRegistering(world, who);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return finishRegistering(world, who, device.create(body.options, onPage(said)));
}

export interface Approver {
  readonly who: SignedInUser;
  readonly device: Authenticator;
  readonly deviceId: string;
}

/** A person who may approve, with a registered device. */
export async function approverWith(
  world: ElevationWorld,
  made: Made = {},
  more: Partial<TestUser> = {},
): Promise<Approver> {
  const who = await approverWithout(world, more);
  const device = new Authenticator(made);
  const { status, body } = await register(world, who, { device });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return { who, device, deviceId: body.id };
}

export const challenge = (world: ElevationWorld, requestId: string, who: SignedInUser) =>
  world.request("POST", `/pam/elevation-requests/${requestId}/assertion-challenge`, undefined, who);

/** What a device signs for a request, in the way of the page. */
export async function proofFor(
  world: ElevationWorld,
  requestId: string,
  { who, device }: Pick<Approver, "who" | "device">,
  said: Partial<Said> = {},
) {
  const { status, body } = await challenge(world, requestId, who);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return device.sign(body.options, onPage(said));
}

/** Sessions that no row holds cannot be asked; this one is another sign-in of the same person. */
export async function secondSession(world: ElevationWorld, who: SignedInUser): Promise<SignedInUser> {
  const { db, services } = world.server;
  const session = await db.selectFrom("sessions").selectAll().where("id", "=", who.sessionId).executeTakeFirstOrThrow();
  const sessionId = services.random.uuid();
  await db
    .insertInto("sessions")
    .values({ ...session, id: sessionId })
    .execute();
  const claims = JSON.parse(Buffer.from(who.token.split(".")[1] as string, "base64url").toString());
  const { iat: _, exp: __, ...known } = claims;
  return { ...who, sessionId, token: services.accessTokens.sign({ ...known, sid: sessionId }) };
}
