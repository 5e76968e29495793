import type { RmmClient } from "#sdk/client";
import { type Read, readAll } from "../provisioning/read-all.ts";
import type { KeyKind } from "./key-kinds.ts";
import type { ListedKey } from "./listed-key.ts";

export interface KeyReading {
  readonly rmm: RmmClient;
  readonly read: Read;
  readonly nowMs: number;
  readonly kinds: readonly KeyKind[];
  /** Only keys of this organization, and none of the partner. */
  readonly orgId?: string | undefined;
  /** Partner whose keys to read, in system scope. */
  readonly partnerId?: string | undefined;
}

const PAGE = 100;

/** All keys of the requested kinds. Fails rather than return some of them. */
export async function readKeys(reading: KeyReading): Promise<ListedKey[]> {
  const { rmm, read, kinds } = reading;
  const wants = (kind: KeyKind) => kinds.includes(kind);
  const ofOrganizations = kinds.some((kind) => kind !== "partner-key");
  const orgs = ofOrganizations
    ? await readAll("organizations", (options) => rmm.organizations.listAccessible({}, options), read)
    : undefined;
  const slugs = new Map(orgs?.map(({ id, slug }) => [id, slug]));
  const keys = [
    ...(wants("api-key") || wants("service-principal") ? await apiKeys(reading) : []),
    ...(wants("partner-key") ? await partnerKeys(reading) : []),
    ...(wants("enrollment-key") ? await enrollmentKeys(reading) : []),
  ];
  return keys.map((key) =>
    key.orgId === null ? key : { ...key, organization: slugs.get(key.orgId) ?? key.organization },
  );
}

/** The API lists keys of users and of service principals together. */
async function apiKeys({ rmm, read, kinds, orgId }: KeyReading): Promise<ListedKey[]> {
  const query = { limit: PAGE, ...(orgId === undefined ? {} : { orgId }) };
  const found = await readAll("API keys", (options) => rmm.apiKeys.list({ query }, options), read);
  const principals = kinds.includes("service-principal")
    ? await readAll("service principals", (options) => rmm.servicePrincipals.list({ query }, options), read)
    : [];
  const owners = new Map(principals.map((one) => [one.id, one]));
  return found.flatMap((key): ListedKey[] => {
    const kind = key.principalType === "service" ? "service-principal" : "api-key";
    if (!kinds.includes(kind)) return [];
    const owner = key.principalId === null ? undefined : owners.get(key.principalId);
    return [
      {
        kind,
        id: key.id,
        name: owner?.name ?? key.name,
        organization: null,
        orgId: key.orgId,
        principal: owner?.name ?? null,
        principalId: kind === "service-principal" ? key.principalId : null,
        keyPrefix: key.keyPrefix,
        status: key.status,
        issuedAt: key.keyIssuedAt,
        expiresAt: key.expiresAt,
        lastUsedAt: key.lastUsedAt,
      },
    ];
  });
}

/** A key expires with its principal at the latest. */
async function partnerKeys({ rmm, read, nowMs, partnerId }: KeyReading): Promise<ListedKey[]> {
  const query = partnerId === undefined ? {} : { partnerId };
  const principals = await readAll(
    "partner service principals",
    (options) => rmm.partnerServicePrincipals.list({ query }, options),
    read,
  );
  return principals.flatMap((principal) =>
    principal.keys.map((key): ListedKey => {
      const expiresAt = earlier(key.expiresAt, principal.expiresAt);
      const ended = expiresAt !== null && Date.parse(expiresAt) <= nowMs;
      const status = key.status === "revoked" ? "revoked" : principal.status === "disabled" ? "disabled" : undefined;
      return {
        kind: "partner-key",
        id: key.id,
        name: key.name,
        organization: null,
        orgId: null,
        principal: principal.name,
        principalId: principal.id,
        keyPrefix: key.keyPrefix,
        status: status ?? (ended ? "expired" : "active"),
        issuedAt: key.createdAt,
        expiresAt,
        lastUsedAt: key.lastUsedAt,
      };
    }),
  );
}

const earlier = (a: string | null, b: string | null): string | null =>
  a === null || b === null ? (a ?? b) : Date.parse(a) < Date.parse(b) ? a : b;

async function enrollmentKeys({ rmm, read, nowMs, orgId }: KeyReading): Promise<ListedKey[]> {
  const query = { limit: PAGE, ...(orgId === undefined ? {} : { orgId }) };
  const found = await readAll("enrollment keys", (options) => rmm.enrollmentKeys.list({ query }, options), read);
  return found.map((key) => {
    const used = key.maxUsage !== null && key.usageCount >= key.maxUsage;
    return {
      kind: "enrollment-key",
      id: key.id,
      name: key.name,
      organization: null,
      orgId: key.orgId,
      principal: null,
      principalId: key.createdByPrincipalId,
      keyPrefix: null,
      status: Date.parse(key.expiresAt) <= nowMs ? "expired" : used ? "exhausted" : "active",
      issuedAt: key.keyIssuedAt,
      expiresAt: key.expiresAt,
      lastUsedAt: null,
    };
  });
}
