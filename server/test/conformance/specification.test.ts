import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { errorTable } from "#contract/core/errors";
import { eventKinds } from "#contract/core/events";
import { auditActions } from "#contract/core/generated/audit-actions";
import { builtInRoles, permissions } from "#contract/core/permissions";
import { possibleErrors } from "#contract/core/possible-errors";
import { toolNames } from "#contract/core/tools";
import { allEndpoints } from "#contract/index";
import type { Statement } from "../../../scripts/specification/readings/reading.ts";
import { type Catalogues, catalogueDifferences } from "./compare-catalogues.ts";
import { type Declaration, differences, type Specification } from "./compare-specification.ts";

/**
 * Declarations are compared with what the specification says, not with what they were yesterday: a wrong permission,
 * scope or MFA mark is found here, where a golden file of the contract's own would freeze it.
 * `npm run specification -- DIR` reads the documents anew.
 */
const golden = JSON.parse(
  readFileSync(new URL("../../../fixtures/golden/specification.json", import.meta.url), "utf8"),
) as Catalogues & { readonly endpoints: Specification };

const declared: readonly Declaration[] = allEndpoints().map((endpoint) => ({
  endpoint: `${endpoint.method} ${endpoint.path}`,
  ...endpoint.access,
  exempt: Object.entries(endpoint.access.exempt).flatMap(([guard, holds]) => (holds ? [guard] : [])),
  errors: possibleErrors(endpoint),
  audit: typeof endpoint.audit === "string" ? endpoint.audit : null,
  events: [...endpoint.emits, ...endpoint.mayEmit],
}));

const catalogues: Catalogues = {
  permissions,
  roles: Object.fromEntries(builtInRoles.map(({ name, grants }) => [name, grants])),
  errors: Object.fromEntries(
    Object.entries(errorTable).map(([code, [status, message]]) => [code, { status, message }]),
  ),
  auditActions,
  eventKinds,
};

interface Accepted {
  readonly because: string;
  readonly differences: readonly string[];
}

/** Endpoints of our own say why the product has them; so they are told from those that are spelled wrong. */
const own = allEndpoints().filter((endpoint) => endpoint.own !== undefined);

it("an endpoint of our own says why it is there", () => {
  for (const { noun, verb, own: because } of own) expect(because?.length, `${noun} ${verb}`).toBeGreaterThan(20);
});

/** Differences that a declaration alone cannot settle, with the reason. One that is no longer a difference fails. */
const accepted: readonly Accepted[] = [
  {
    because: "one of the four, as the identity provider answers: the handler names it, no declaration could",
    differences: [
      "GET /sso/callback audit: declared none, specified user.login or sso.identity.linked or sso.identity.link_rejected or sso.callback.rejected",
    ],
  },
  {
    because: "the action is that of the tool that is called: the handler names it, no declaration could",
    differences: ["POST /mcp audit: declared none, specified mcp.tool.<name>"],
  },
  {
    because: "an id names its partner already, so system scope need not repeat it",
    differences: [
      "PATCH /partner-service-principals/:id errors: PARTNER_ID_REQUIRED is not declared",
      "POST /partner-service-principals/:id/keys errors: PARTNER_ID_REQUIRED is not declared",
      "POST /partner-service-principals/:id/keys/:keyId/rotate errors: PARTNER_ID_REQUIRED is not declared",
      "DELETE /partner-service-principals/:id/keys/:keyId errors: PARTNER_ID_REQUIRED is not declared",
    ],
  },
  {
    because: "denying and revoking work in every status of the partner; the handler refuses an approval",
    differences: ["respond", "revoke"].map(
      (verb) => `POST /pam/elevation-requests/:id/${verb} exempt: declared [partnerGuard], specified []`,
    ),
  },
  {
    because: "no deployment can name a policy until there are deployments",
    differences: ["DELETE /policies/:id errors: IN_USE is not declared"],
  },
  {
    because: "no policy can forbid remote tools until there are policies, and without one they are allowed",
    differences: [
      "GET /system-tools/devices/:deviceId/processes",
      "GET /system-tools/devices/:deviceId/processes/:pid",
      "POST /system-tools/devices/:deviceId/processes/:pid/kill",
      "GET /system-tools/devices/:deviceId/services",
      "GET /system-tools/devices/:deviceId/services/:name",
      "POST /system-tools/devices/:deviceId/services/:name/start",
      "POST /system-tools/devices/:deviceId/services/:name/stop",
      "POST /system-tools/devices/:deviceId/services/:name/restart",
      "GET /system-tools/devices/:deviceId/eventlogs",
      "GET /system-tools/devices/:deviceId/eventlogs/:name",
      "GET /system-tools/devices/:deviceId/eventlogs/:name/events",
      "GET /system-tools/devices/:deviceId/eventlogs/:name/events/:recordId",
    ].map((endpoint) => `${endpoint} errors: REMOTE_ACCESS_POLICY_DENIED is not declared`),
  },
];

it("every endpoint declares what the specification says of it", () => {
  const known = [
    ...accepted.flatMap((one) => one.differences),
    ...own.map(({ method, path }) => `${method} ${path} is not in the specification`),
  ];
  expect(differences(declared, golden.endpoints).toSorted()).toEqual(known.toSorted());
});

/**
 * Entries of the lists that the specification does not have, as the comparison prints them, with the reason. Actions of
 * endpoints of our own need none.
 */
const acceptedInLists: readonly Accepted[] = [
  {
    because: "a known key that is refused is recorded, and no action is named for a read",
    differences: ["audit actions: has api_key.refused"],
  },
  {
    because: "the specification names them together, as mcp.tool.<name>",
    differences: toolNames.map((name) => `audit actions: has mcp.tool.${name}`),
  },
];

it("permissions, roles, codes, audit actions and event kinds are those of the specification", () => {
  const ofOwn = own.flatMap(({ audit }) => (typeof audit === "string" ? audit : []));
  const known = [
    ...acceptedInLists.flatMap((one) => one.differences),
    ...new Set(
      ofOwn.filter((action) => !golden.auditActions.includes(action)).map((one) => `audit actions: has ${one}`),
    ),
  ];
  expect(catalogueDifferences(catalogues, golden).toSorted()).toEqual(known.toSorted());
});

describe("the comparison itself", () => {
  const known = new Set(differences(declared, golden.endpoints));
  const found = (one: Declaration) => differences([one], golden.endpoints).filter((line) => !known.has(line));
  const toggled = (list: readonly string[], item: string) =>
    list.includes(item) ? list.filter((one) => one !== item) : [...list, item];
  const isPerson = ({ kinds }: Declaration) => kinds.includes("user");

  /** Each makes one declaration wrong in one field, where the specification speaks of that field. */
  const mistakes: Readonly<Record<string, (one: Declaration, says: Statement) => Declaration[]>> = {
    kinds: (one) => ["user", "apiKey", "agent", "public"].map((kind) => ({ ...one, kinds: toggled(one.kinds, kind) })),
    scopes: (one) =>
      isPerson(one)
        ? ["organization", "partner", "system"].map((scope) => ({ ...one, scopes: toggled(one.scopes, scope) }))
        : [],
    permissions: (one, says) =>
      says.permissions === null
        ? []
        : [...one.permissions, "devices:read", "organizations:write", "billing:manage"].map((permission) => ({
            ...one,
            permissions: toggled(one.permissions, permission),
          })),
    keyScopes: (one) =>
      [...one.keyScopes, "tickets:read"].map((scope) => ({ ...one, keyScopes: toggled(one.keyScopes, scope) })),
    mfa: (one) => [{ ...one, mfa: !one.mfa }],
    fullPartner: (one) => [{ ...one, fullPartner: !one.fullPartner }],
    watchdog: (one) => [{ ...one, watchdog: !one.watchdog }],
    exempt: (one) =>
      isPerson(one)
        ? ["partnerGuard", "mfaEnrollment"].map((guard) => ({ ...one, exempt: toggled(one.exempt, guard) }))
        : [],
    audit: (one, says) =>
      says.audit === null
        ? []
        : [
            { ...one, audit: one.audit === "webhook.test" ? "webhook.retry" : "webhook.test" },
            ...(one.audit === null ? [] : [{ ...one, audit: null }]),
          ],
    errors: (one, says) =>
      says.errors
        .filter((code) => one.errors.includes(code))
        .map((code) => ({ ...one, errors: toggled(one.errors, code) })),
  };

  it.each(Object.keys(mistakes))("finds every single mistake in %s, on every endpoint", (field) => {
    let made = 0;
    for (const one of declared) {
      const says = golden.endpoints[one.endpoint];
      // A field that is wrong already could be made right.
      if (!says || [...known].some((line) => line.startsWith(`${one.endpoint} ${field}`))) continue;
      for (const wrong of mistakes[field]?.(one, says) ?? []) {
        made += 1;
        expect(found(wrong).join(), `${one.endpoint} ${JSON.stringify(wrong)}`).toContain(`${one.endpoint} ${field}`);
      }
    }
    expect(made).toBeGreaterThan(declared.length / 2);
  });

  it("finds every event that is specified and not declared", () => {
    const telling = declared.filter(({ endpoint }) => (golden.endpoints[endpoint]?.events.length ?? 0) > 0);
    expect(telling.length).toBeGreaterThan(8);
    for (const one of telling)
      expect(found({ ...one, events: [] })).toEqual(
        golden.endpoints[one.endpoint]?.events.map((kind) => `${one.endpoint} events: ${kind} is not declared`),
      );
  });

  it("finds an endpoint that the specification does not have", () => {
    const [one] = declared as [Declaration];
    expect(found({ ...one, endpoint: "GET /no/such/path" })).toEqual(["GET /no/such/path is not in the specification"]);
  });

  it("takes a path that answers every method for any of them", () => {
    const [one] = declared as [Declaration];
    const [[path, says]] = Object.entries(golden.endpoints).filter(([name]) => name.startsWith("ALL ")) as [
      [string, Statement],
    ];
    const proxied = { ...one, ...says, permissions: says.permissions ?? [], audit: null };
    const endpoint = path.replace("ALL", "PUT");
    expect(found({ ...proxied, endpoint })).toEqual([]);
    expect(found({ ...proxied, endpoint, mfa: true })).toEqual([`${endpoint} mfa: declared true, specified false`]);
  });

  it("finds every single mistake in the lists", () => {
    const ours = new Set(catalogueDifferences(catalogues, golden));
    const changed = (change: Partial<Catalogues>) =>
      catalogueDifferences({ ...catalogues, ...change }, golden).filter((line) => !ours.has(line));
    expect(changed({ permissions: permissions.slice(1) })).toEqual(["permissions: lacks devices:read"]);
    for (const { name, grants } of builtInRoles)
      for (const grant of [...grants, "billing:view"])
        expect(changed({ roles: { ...catalogues.roles, [name]: toggled(grants, grant) } })).toHaveLength(1);
    for (const [code, { status, message }] of Object.entries(catalogues.errors)) {
      expect(changed({ errors: { [code]: { status: status + 1, message } } }), code).toHaveLength(1);
      if (golden.errors[code]?.message !== null)
        expect(changed({ errors: { [code]: { status, message: `${message}!` } } }), code).toHaveLength(1);
    }
    expect(changed({ auditActions: ["tenant.create"] })).toEqual(["audit actions: has tenant.create"]);
    expect(changed({ eventKinds: ["device.lost"] })).toEqual(["event kinds: has device.lost"]);
  });
});
