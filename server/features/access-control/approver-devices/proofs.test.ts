import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Authenticator, otherKey, type Said } from "#fixtures/simulators/authenticator";
import {
  type Approver,
  approverWith,
  approverWithout,
  challenge,
  PUBLIC_URL,
  proofFor,
  secondSession,
} from "../../../test/access-control/approvers.ts";
import { ElevationWorld, type TestAgent } from "../../../test/access-control/elevation-world.ts";
import { databases } from "../../../test/harness.ts";

const HIGH = 3;
type Proof = ReturnType<Authenticator["sign"]>;

describe.each(databases)("proofs of approvals on %s", (database) => {
  let world: ElevationWorld;
  let agent: TestAgent;
  let mia: Approver;
  let bob: Approver;

  beforeAll(async () => {
    world = await ElevationWorld.start(database, { PUBLIC_URL });
    agent = await world.device();
    mia = await approverWith(world);
    bob = await approverWith(world);
  });
  afterAll(() => world?.stop());
  // A person has 30 challenges a minute.
  beforeEach(() => world.server.clock.advance(61_000));

  const pending = () => world.pending(agent.deviceId, { riskTier: HIGH });
  const stillOpen = async () =>
    (await world.server.db.selectFrom("assertionChallenges").select("sessionId").execute()).length;

  /** The attempt is refused, nothing is decided, and the challenge it was made with is used up. */
  async function isRefused(id: string, proof: Proof, as = mia.who): Promise<void> {
    const before = await stillOpen();
    const { status, body } = await world.approve(id, { proof }, as);
    expect([status, body.code]).toEqual([401, "ASSERTION_FAILED"]);
    expect(await world.show(id)).toMatchObject({ status: "pending", approvedByName: null, decidedVia: null });
    expect(await world.ledger(id)).toEqual([]);
    expect(await stillOpen()).toBe(before - 1);
  }

  it.each(["ES256", "EdDSA", "RS256"] as const)(
    "one by %s approves at level 3, once, and is in the ledger",
    async (algorithm) => {
      const approver = await approverWith(world, { algorithm });
      const id = await pending();
      const proof = await proofFor(world, id, approver);
      expect((await world.approve(id, { proof }, approver.who)).body).toMatchObject({ status: "approved" });
      expect(await world.show(id)).toMatchObject({
        ...{ status: "approved", decidedAssuranceLevel: 3, decidedVia: "webauthn_platform" },
        events: [{ event: "approved", details: { assuranceLevel: 3, approverDeviceId: approver.deviceId } }],
      });
      expect((await world.show(id)).events[0].details).not.toHaveProperty("graceDowngrade");
      const listed = await world.request("GET", "/authenticator/devices", undefined, approver.who);
      expect(listed.body.data[0].lastUsedAt).toBe(world.server.clock.now());
    },
  );

  const wrong: readonly (readonly [string, Partial<Said>])[] = [
    ["another type", { type: "webauthn.create" }],
    ["another challenge", { challenge: "c".repeat(43) }],
    ["no challenge", { challenge: "" }],
    ["the page of another host", { origin: "https://rmm.example.evil.test" }],
    ["a page without encryption", { origin: "http://rmm.example" }],
    ["a page of another port", { origin: "https://rmm.example:8443" }],
    ["a page of a name below", { origin: "https://evil.rmm.example" }],
    ["a page within a frame", { crossOrigin: true }],
    ["another relying party", { rpId: "evil.example" }],
    ["nobody present", { flip: 1 }],
    ["nobody verified", { flip: 4 }],
    ["a key that may be copied, where it was registered as one that may not", { flip: 8 }],
    ["a key that was copied and may not be", { flip: 16 }],
    ["a counter that was there before", { counter: 1 }],
    ["a counter that runs back", { counter: 0 }],
    ["a key of somebody else", { signedWith: otherKey("ES256") }],
    ["a key of another kind", { signedWith: otherKey("RS256") }],
  ];

  it.each(wrong)("one that says %s is refused, and its challenge is used up", async (_, said) => {
    const id = await pending();
    await isRefused(id, await proofFor(world, id, mia, said));
    // What was right of it does not count later.
    const right = await proofFor(world, id, mia);
    expect((await world.approve(id, { proof: right }, mia.who)).status).toBe(200);
  });

  const broken: readonly (readonly [string, (proof: Proof) => Partial<Proof>])[] = [
    ["credential of a colleague", () => ({ credentialId: bob.device.id })],
    ["credential that nobody has", () => ({ credentialId: "bm9ib2R5" })],
    ["user handle of a colleague", () => ({ userHandle: bob.device.userHandle })],
    [
      "authenticator data cut short",
      ({ authenticatorData }) => ({ authenticatorData: authenticatorData.slice(0, 20) }),
    ],
    ["client data that is no JSON", () => ({ clientDataJSON: "bm8" })],
    ["signature with a bit turned", ({ signature }) => ({ signature: turned(signature) })],
    ["signature cut short", ({ signature }) => ({ signature: signature.slice(0, 40) })],
    ["client data with a byte more", ({ clientDataJSON }) => ({ clientDataJSON: withBlank(clientDataJSON) })],
  ];

  it.each(broken)("one with a %s is refused, and its challenge is used up", async (_, change) => {
    const id = await pending();
    const proof = await proofFor(world, id, mia);
    await isRefused(id, { ...proof, ...change(proof) });
    expect((await world.approve(id, { proof }, mia.who)).body.code).toBe("ASSERTION_FAILED");
  });

  it("one that fits, of a colleague's device, is no proof of the caller", async () => {
    const id = await pending();
    const { body } = await challenge(world, id, mia.who);
    await isRefused(id, bob.device.sign(body.options, { origin: PUBLIC_URL }));
  });

  it("one for another request is refused", async () => {
    const [id, other] = [await pending(), await pending()];
    const forOther = await proofFor(world, other, mia);
    await challenge(world, id, mia.who);
    await isRefused(id, forOther);
    // The other's challenge was not touched.
    expect((await world.approve(other, { proof: forOther }, mia.who)).status).toBe(200);
  });

  it("one for another session of the same person, or another person, is refused", async () => {
    const id = await pending();
    const elsewhere = await secondSession(world, mia.who);
    const proof = await proofFor(world, id, mia);
    await challenge(world, id, elsewhere);
    await isRefused(id, proof, elsewhere);
    await challenge(world, id, bob.who);
    await isRefused(id, proof, bob.who);
    expect((await world.approve(id, { proof }, mia.who)).status).toBe(200);
  });

  it("one whose challenge a newer one has voided is refused, and the newer one is used up with it", async () => {
    const id = await pending();
    const old = await proofFor(world, id, mia);
    const { body } = await challenge(world, id, mia.who);
    await isRefused(id, old);
    const newer = mia.device.sign(body.options, { origin: PUBLIC_URL });
    expect((await world.approve(id, { proof: newer }, mia.who)).body.code).toBe("ASSERTION_FAILED");
  });

  it("one counts for 120 seconds and not for longer", async () => {
    const [early, late] = [await pending(), await pending()];
    const [soon, tooLate] = [await proofFor(world, early, mia), await proofFor(world, late, mia)];
    world.server.clock.advance(120_000);
    // The counter has gone on with the second signature; the first is older.
    expect((await world.approve(late, { proof: tooLate }, mia.who)).status).toBe(200);
    expect((await world.approve(early, { proof: soon }, mia.who)).body.code).toBe("ASSERTION_FAILED");
    const id = await pending();
    const proof = await proofFor(world, id, mia);
    world.server.clock.advance(120_001);
    await isRefused(id, proof);
  });

  it("one that was used is not used again, and none counts without a challenge", async () => {
    const [id, other] = [await pending(), await pending()];
    const proof = await proofFor(world, id, mia);
    expect((await world.approve(id, { proof }, mia.who)).status).toBe(200);
    for (const again of [id, other])
      expect((await world.approve(again, { proof }, mia.who)).body.code).toMatch(/ASSERTION_FAILED|INVALID_STATE/);
    expect(await world.show(other)).toMatchObject({ status: "pending" });
  });

  it("a wrong one is never read as none, also where none would do", async () => {
    const id = await world.pending(agent.deviceId, { riskTier: 1 });
    await isRefused(id, await proofFor(world, id, mia, { flip: 4 }));
    expect((await world.approve(id, {}, mia.who)).status).toBe(200);
  });

  it("a denial asks for none, and a wrong one does not hold it up", async () => {
    const id = await pending();
    const proof = await proofFor(world, id, mia, { flip: 4 });
    expect((await world.deny(id, { proof }, mia.who)).status).toBe(200);
  });

  it("a device whose counter stays 0 proves as often as it signs", async () => {
    const approver = await approverWith(world, { counts: false });
    for (let times = 0; times < 2; times += 1) {
      const id = await pending();
      const proof = await proofFor(world, id, approver);
      expect((await world.approve(id, { proof }, approver.who)).status).toBe(200);
    }
  });

  it("a device that is seen backed up counts as bound to its machine no more", async () => {
    const approver = await approverWith(world, { backupEligible: true });
    const own = async () =>
      (await world.request("GET", "/authenticator/devices", undefined, approver.who)).body.data[0];
    expect(await own()).toMatchObject({ isPlatformBound: false });
    await world.server.db
      .updateTable("approverDevices")
      .set({ isPlatformBound: true })
      .where("id", "=", approver.deviceId)
      .execute();
    approver.device.backedUp = true;
    const id = await pending();
    const proof = await proofFor(world, id, approver);
    expect((await world.approve(id, { proof }, approver.who)).status).toBe(200);
    expect(await own()).toMatchObject({ isPlatformBound: false });
  });

  it("a challenge is made for whoever may see or decide the request, while it waits, and names their devices alone", async () => {
    const id = await pending();
    const { body } = await challenge(world, id, mia.who);
    expect(Buffer.from(body.options.challenge, "base64url")).toHaveLength(32);
    expect(body).toEqual({
      options: {
        ...{ challenge: body.options.challenge, rpId: "rmm.example", timeout: 120_000, userVerification: "required" },
        allowCredentials: [{ id: mia.device.id, type: "public-key", transports: ["internal"] }],
      },
      pageUrl: `${PUBLIC_URL}/api/v1/authenticator/page`,
    });
    const none = await approverWithout(world);
    expect((await challenge(world, id, none)).body.options).not.toHaveProperty("allowCredentials");
    const stranger = await approverWithout(world, { orgId: world.otherOrgId });
    expect((await challenge(world, id, stranger)).status).toBe(404);
    const confined = await approverWithout(world, { siteIds: [world.secondSiteId] });
    expect((await challenge(world, id, confined)).body.code).toBe("SITE_ACCESS_DENIED");
    expect((await challenge(world, id, await world.person("Org Technician"))).status).toBe(200);
    expect((await challenge(world, id, await world.person("Org Viewer"))).body.code).toBe("PERMISSION_DENIED");
    await world.deny(id);
    expect((await challenge(world, id, mia.who)).body.code).toBe("NOT_FOUND");
  });

  it("the database keeps no challenge as it is", async () => {
    const id = await pending();
    const { body } = await challenge(world, id, mia.who);
    const rows = await world.server.db.selectFrom("assertionChallenges").selectAll().execute();
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain(body.options.challenge);
  });
});

const turned = (text: string): string => {
  const bytes = Buffer.from(text, "base64url");
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  return bytes.toString("base64url");
};

const withBlank = (text: string): string =>
  Buffer.concat([Buffer.from(text, "base64url"), Buffer.from(" ")]).toString("base64url");
