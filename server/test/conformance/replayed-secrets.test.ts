import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SecretState } from "#server/http/implement";
import { responseHoldsSecret } from "#server/http/secret-response";
import { type Answer, databases } from "../harness.ts";
import { PASSWORD } from "../people.ts";
import { type Case, cases } from "./cases.ts";
import { type Ready, type Swept, startSweep } from "./sweep.ts";

type Step = readonly [method: string, path: string, body: object | undefined, then: SecretState];

/** What ends a secret that was made, and what a request that is sent again is told of it then. */
const endings: Readonly<Record<string, (answer: Answer["body"], ready: Ready) => readonly Step[]>> = {
  "apiKeys.create": ({ id }) => [
    ["POST", `/api-keys/${id}/rotate`, {}, "stale"],
    ["DELETE", `/api-keys/${id}`, undefined, "gone"],
  ],
  "apiKeys.rotate": ({ id }) => [
    ["POST", `/api-keys/${id}/rotate`, {}, "stale"],
    ["DELETE", `/api-keys/${id}`, undefined, "gone"],
  ],
  "enrollmentKeys.create": ({ id }) => [
    ["POST", `/enrollment-keys/${id}/rotate`, {}, "stale"],
    ["DELETE", `/enrollment-keys/${id}`, undefined, "gone"],
  ],
  "enrollmentKeys.rotate": ({ id }) => [["POST", `/enrollment-keys/${id}/rotate`, {}, "stale"]],
  "partnerApi.createEnrollmentKey": ({ data: { id } }) => [
    ["POST", `/enrollment-keys/${id}/rotate`, {}, "stale"],
    ["DELETE", `/enrollment-keys/${id}`, undefined, "gone"],
  ],
  "partnerServicePrincipals.issueKey": ({ keyId }, { tenant }) => [
    ["DELETE", `/partner-service-principals/${tenant.partnerPrincipalId}/keys/${keyId}`, undefined, "gone"],
  ],
  "partnerServicePrincipals.rotateKey": ({ keyId }, { tenant }) => [
    ["POST", `/partner-service-principals/${tenant.partnerPrincipalId}/keys/${keyId}/rotate`, {}, "gone"],
  ],
  "servicePrincipals.rotate": (_, { tenant }) => [
    ["POST", `/service-principals/${tenant.servicePrincipalId}/rotate`, {}, "gone"],
  ],
  "devices.provision": ({ device: { id, orgId, siteId, hostname, osType } }) => [
    ["POST", "/devices/provision", { orgId, siteId, hostname, osType }, "stale"],
    ["DELETE", `/devices/${id}`, undefined, "gone"],
  ],
  "webhooks.create": ({ id }) => [
    ["PATCH", `/webhooks/${id}`, { secret: "s".repeat(32) }, "stale"],
    ["DELETE", `/webhooks/${id}`, undefined, "gone"],
  ],
  "users.invite": ({ id }, { tenant }) => [
    ["POST", "/users/resend-invite", { orgId: tenant.orgId, userId: id }, "stale"],
  ],
  "users.resendInvite": (_, { tenant }) => [
    ["POST", "/users/resend-invite", { orgId: tenant.orgId, userId: tenant.invitedId }, "stale"],
  ],
  "memberships.select": ({ refreshToken }) => [["POST", "/auth/refresh", { refreshToken }, "stale"]],
  "mfa.setup": (_, { body }) => [["POST", "/auth/mfa/setup", body as object, "stale"]],
  "mfa.enable": () => [["POST", "/auth/mfa/recovery-codes", { currentPassword: PASSWORD }, "stale"]],
  "mfa.recoveryCodes": (_, { body }) => [["POST", "/auth/mfa/recovery-codes", body as object, "stale"]],
};

const minting = cases.filter(({ endpoint }) => endpoint.idempotent && responseHoldsSecret(endpoint));

/** A secret in an answer from memory may have ended since: whoever gets it is told. */
describe.each(databases)("secrets that are told again on %s", (database) => {
  let swept: Swept;
  beforeAll(async () => {
    // Links are shown only where no mail is sent.
    swept = await startSweep(database, { outside: true, realMail: true });
  });
  afterAll(() => swept?.stop());

  it.each(minting)("$name says whether the secret that it made still works", async (item: Case) => {
    const tenant = await swept.freshTenant();
    const ready = await swept.prepared(item, tenant);
    const headers = { ...ready.headers, "x-idempotency-key": `told-again-${item.name}` };
    const send = () => swept.call(item, { ...ready, headers });
    const first = await send();
    expect([first.status, first.headers.get("idempotency-answer")]).toEqual([item.endpoint.status, null]);
    const stateNow = async () => {
      const { headers: told, body } = await send();
      expect([told.get("idempotency-replayed"), body]).toEqual(["true", first.body]);
      return told.get("idempotency-answer");
    };
    expect(await stateNow()).toBe("current");
    const { token } = ready.person ?? (await swept.caller("partner", tenant));
    for (const [method, path, body, state] of endings[item.name]?.(first.body, ready) ?? missing(item)) {
      const ended = await swept.request(method, path, { token, ...(body && { body }) });
      expect(ended.status, JSON.stringify(ended.body)).toBeLessThan(300);
      expect(await stateNow(), `${method} ${path}`).toBe(state);
    }
  });
});

const missing = ({ name }: Case): never => {
  throw new Error(`say what ends the secret of ${name}`);
};
