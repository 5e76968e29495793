import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { plainProvider } from "#fixtures/nouns/sign-in/sso-providers";
import { Authenticator, type Said } from "#fixtures/simulators/authenticator";
import {
  type Approver,
  approverWith,
  approverWithout,
  beginRegistering,
  finishRegistering,
  PUBLIC_URL,
  register,
  secondSession,
} from "../../../test/access-control/approvers.ts";
import { ElevationWorld } from "../../../test/access-control/elevation-world.ts";
import { auditOf } from "../../../test/audit-of.ts";
import { joinOrganization, providerSession } from "../../../test/guest.ts";
import { databases, type SignedInUser } from "../../../test/harness.ts";
import { enrol, freshCode, PASSWORD, seedPerson } from "../../../test/people.ts";

const here = { origin: PUBLIC_URL };

describe.each(databases)("registering approver devices on %s", (database) => {
  let world: ElevationWorld;

  beforeAll(async () => {
    world = await ElevationWorld.start(database, { PUBLIC_URL });
  });
  afterAll(() => world?.stop());
  beforeEach(() => world.server.clock.advance(61_000));

  const listed = async (who: SignedInUser) =>
    (await world.request("GET", "/authenticator/devices", undefined, who)).body.data;
  const remove = (id: string, who: SignedInUser, body: object = { currentPassword: PASSWORD }) =>
    world.request("DELETE", `/authenticator/devices/${id}`, body, who);
  const mailsTo = async (email: string) => {
    await world.server.workJobs();
    return world.server.mails.filter(({ to }) => to === email).map(({ subject }) => subject);
  };

  it.each(["ES256", "EdDSA", "RS256"] as const)(
    "a device by %s is registered, listed, mailed of and recorded",
    async (algorithm) => {
      const who = await approverWithout(world);
      const device = new Authenticator({ algorithm });
      const { status, body } = await register(world, who, { device });
      const shown = {
        ...{ id: body.id, label: "laptop", isPlatformBound: true, transports: ["internal"] },
        ...{ createdAt: world.server.clock.now(), lastUsedAt: null },
      };
      expect([status, body]).toEqual([201, shown]);
      expect(await listed(who)).toEqual([shown]);
      expect(await mailsTo(who.email)).toEqual(["An approver device was registered"]);
      const [entry] = await auditOf(world.server, ({ resourceId }) => resourceId === body.id);
      expect(entry).toMatchObject({
        ...{ action: "auth.authenticator.device.register", orgId: world.orgId, actorId: who.userId, result: "success" },
        resourceName: "laptop",
      });
      expect(JSON.stringify(entry)).not.toContain(device.id);
    },
  );

  it("the options name this server, this person, and the devices that are there", async () => {
    const { who, device } = await approverWith(world);
    const { body } = await beginRegistering(world, who);
    expect(Buffer.from(body.options.challenge, "base64url")).toHaveLength(32);
    expect(body.options).toMatchObject({
      ...{ rp: { id: "rmm.example" }, user: { name: who.email }, timeout: 300_000, attestation: "none" },
      pubKeyCredParams: [-8, -7, -257].map((alg) => ({ type: "public-key", alg })),
      authenticatorSelection: { authenticatorAttachment: "platform", userVerification: "required" },
      excludeCredentials: [{ id: device.id, type: "public-key", transports: ["internal"] }],
    });
    expect(body.pageUrl).toBe(`${PUBLIC_URL}/api/v1/authenticator/page`);
  });

  const wrong: readonly (readonly [string, Partial<Said>])[] = [
    ["another type", { type: "webauthn.get" }],
    ["another challenge", { challenge: "c".repeat(43) }],
    ["the page of another host", { origin: "https://evil.example" }],
    ["a page within a frame", { crossOrigin: true }],
    ["another relying party", { rpId: "evil.example" }],
    ["nobody present", { flip: 1 }],
    ["nobody verified", { flip: 4 }],
    ["no key", { flip: 64 }],
    ["a copy of what may not be copied", { flip: 16 }],
    ["an attestation by another key", { format: "packed by another" }],
    ["an attestation of another format", { format: "fido-u2f" }],
  ];

  it.each(wrong)("one that says %s is refused, and its challenge is used up", async (_, said) => {
    const who = await approverWithout(world);
    const { body } = await beginRegistering(world, who);
    const device = new Authenticator();
    const refused = await finishRegistering(world, who, device.create(body.options, { ...here, ...said }));
    expect([refused.status, refused.body.code]).toEqual([400, "VALIDATION_ERROR"]);
    const right = await finishRegistering(world, who, device.create(body.options, here));
    expect([right.status, right.body.code]).toEqual([400, "INVALID_TOKEN"]);
    expect(await listed(who)).toEqual([]);
    expect(await mailsTo(who.email)).toEqual([]);
  });

  it("an attestation by the key itself is verified", async () => {
    const who = await approverWithout(world);
    expect((await register(world, who, { said: { format: "packed" } })).status).toBe(201);
    const { body } = await beginRegistering(world, who);
    const [one, other] = [0, 1].map(() => new Authenticator().create(body.options, { ...here, format: "packed" }));
    const mixed = {
      ...one,
      response: { ...one?.response, clientDataJSON: spaced(other?.response.clientDataJSON ?? "") },
    };
    expect((await finishRegistering(world, who, mixed)).body.code).toBe("VALIDATION_ERROR");
  });

  it("a challenge counts for five minutes, once, in its session, until a newer one", async () => {
    const who = await approverWithout(world);
    const device = new Authenticator();
    const answer = async () => device.create((await beginRegistering(world, who)).body.options, here);
    const old = await answer();
    world.server.clock.advance(300_001);
    expect((await finishRegistering(world, who, old)).status).toBe(400);
    const voided = await answer();
    await answer();
    expect((await finishRegistering(world, who, voided)).status).toBe(400);
    const elsewhere = await answer();
    expect((await finishRegistering(world, await secondSession(world, who), elsewhere)).status).toBe(400);
    const colleague = await approverWithout(world);
    expect((await finishRegistering(world, colleague, elsewhere)).status).toBe(400);
    expect((await finishRegistering(world, who, elsewhere)).status).toBe(201);
    expect((await finishRegistering(world, who, elsewhere)).status).toBe(400);
    expect(await listed(who)).toHaveLength(1);
  });

  it("a credential that anybody has or had is registered no more, and nothing of whose it is is told", async () => {
    const { who, device, deviceId } = await approverWith(world);
    const stranger = await approverWithout(world, { orgId: world.otherOrgId });
    const taken = { status: 409, body: { error: "Entry exists already", code: "DUPLICATE" } };
    const again = await register(world, stranger, { device });
    expect({ status: again.status, body: again.body }).toMatchObject(taken);
    expect(Object.keys(again.body).toSorted()).toEqual(["code", "error"]);
    await remove(deviceId, who);
    expect((await register(world, who, { device })).body.code).toBe("DUPLICATE");
    expect(await listed(who)).toEqual([]);
    expect(await listed(stranger)).toEqual([]);
  });

  it("a person has ten, also when many are registered at the same moment", async () => {
    const who = await approverWithout(world);
    for (let count = 0; count < 7; count += 1) expect((await register(world, who)).status).toBe(201);
    const sessions = await Promise.all(Array.from({ length: 8 }, () => secondSession(world, who)));
    // One after the other: of more than five who prove who they are at once, the limit of failures stops some.
    const begun = [];
    for (const session of sessions) begun.push(await beginRegistering(world, session));
    const answers = await Promise.all(
      begun.map(({ body }, index) =>
        finishRegistering(world, sessions[index] as SignedInUser, new Authenticator().create(body.options, here)),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 201, 201, 422, 422, 422, 422, 422]);
    expect(await listed(who)).toHaveLength(10);
    expect((await beginRegistering(world, who)).body.code).toBe("LIMIT_REACHED");
  });

  it("of attempts with one challenge at the same moment one registers", async () => {
    const who = await approverWithout(world);
    const { body } = await beginRegistering(world, who);
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => finishRegistering(world, who, new Authenticator().create(body.options, here))),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 400, 400, 400, 400, 400]);
    expect(await listed(who)).toHaveLength(1);
  });

  it("registering and removing take the own password, or where there is none a code, which counts once", async () => {
    const person = await seedPerson(world.server, { role: "Org Admin", orgId: world.orgId });
    const { secret, token, recoveryCodes } = await enrol(world.server, person.token);
    const who = { ...person, token };
    for (const body of [{}, { currentPassword: "Wrong-Horse-7" }, { mfaCode: freshCode(world.server, secret) }])
      expect(await beginRegistering(world, who, body)).toMatchObject({
        status: 401,
        body: { code: "reauth_required" },
      });
    expect((await register(world, who)).status).toBe(201);
    const [{ id }] = await listed(who);
    expect((await remove(id, who, {})).body.code).toBe("reauth_required");
    await world.server.db.updateTable("users").set({ passwordHash: null }).where("id", "=", who.userId).execute();
    for (const body of [{ currentPassword: PASSWORD }, { mfaCode: recoveryCodes[0] }])
      expect((await remove(id, who, body)).body.code).toBe("reauth_required");
    expect(await listed(who)).toHaveLength(1);
    const mfaCode = freshCode(world.server, secret);
    expect((await remove(id, who, { mfaCode })).status).toBe(200);
    expect((await beginRegistering(world, who, { mfaCode })).body.code).toBe("reauth_required");
    expect(await mailsTo(who.email)).toEqual(["An approver device was registered", "An approver device was removed"]);
  });

  describe("whose they are", () => {
    let mia: Approver;
    beforeAll(async () => {
      mia = await approverWith(world);
    });

    it("nobody lists or removes another person's, not even an administrator of the partner", async () => {
      for (const who of [
        world.admin,
        await approverWithout(world),
        await world.server.signIn({ role: "System Admin" }),
      ]) {
        expect(await listed(who)).toEqual([]);
        expect((await remove(mia.deviceId, who)).body.code).toBe("NOT_FOUND");
      }
      expect(await listed(mia.who)).toHaveLength(1);
    });

    it("all but the list takes MFA", async () => {
      const who = await approverWithout(world, { mfa: false });
      expect(await listed(who)).toEqual([]);
      for (const one of [
        beginRegistering(world, who),
        remove(mia.deviceId, who),
        finishRegistering(world, who, new Authenticator().create({ challenge: "c" }, here)),
      ])
        expect((await one).body.code).toBe("MFA_REQUIRED");
    });

    it("a session that another tenant's provider began neither sees nor changes them", async () => {
      const { who, deviceId } = await approverWith(world);
      const { server, otherOrgId } = world;
      await joinOrganization(server, { userId: who.userId, orgId: otherOrgId });
      const providerId = server.services.random.uuid();
      const owner = { id: providerId, orgId: otherOrgId, partnerId: null, createdBy: null };
      const provider = { ...plainProvider(server.clock.now()), ...owner };
      await server.db.insertInto("ssoProviders").values(provider).execute();
      const session = await providerSession(server, { userId: who.userId, orgId: otherOrgId, providerId });
      const guest = { ...who, ...session };
      for (const one of [
        await world.request("GET", "/authenticator/devices", undefined, guest),
        await beginRegistering(world, guest),
        await finishRegistering(world, guest, new Authenticator().create({ challenge: "c" }, here)),
        await remove(deviceId, guest),
      ])
        expect(one).toMatchObject({ status: 403, body: { code: "HOME_SESSION_REQUIRED" } });
      expect(await listed(who)).toHaveLength(1);
    });
  });
});

describe.each(["sqlite"] as const)("without an address that browsers sign for", (database) => {
  it.each([undefined, "http://rmm.example", "https://192.0.2.7", "http://[::1]:3000", "http://127.0.0.1:3000"])(
    "with %s as the public one nothing is registered, and approvals take no proof",
    async (url) => {
      const world = await ElevationWorld.start(database, url === undefined ? {} : { PUBLIC_URL: url });
      try {
        const who = await approverWithout(world);
        const agent = await world.device();
        const id = await world.pending(agent.deviceId);
        for (const one of [
          await beginRegistering(world, who),
          await world.request("POST", `/pam/elevation-requests/${id}/assertion-challenge`, undefined, who),
        ])
          expect(one).toMatchObject({
            status: 503,
            body: { code: "NOT_CONFIGURED", details: { setting: "PUBLIC_URL" } },
          });
        expect((await world.approve(id, {}, who)).status).toBe(200);
      } finally {
        await world.stop();
      }
    },
  );
});

const spaced = (text: string): string =>
  Buffer.concat([Buffer.from(text, "base64url"), Buffer.from(" ")]).toString("base64url");
