import type { RmmClient } from "#sdk/client";
import { NotFoundError } from "#sdk/errors";
import { createOnce } from "./create-once.ts";
import type { IdempotencyKeys } from "./idempotency-keys.ts";
import type { ItemResult } from "./item-result.ts";
import { fetchSecret, type Minted, mintKey } from "./mint-key.ts";
import { type FileKey, foldName, type Sink } from "./model.ts";
import type { Step } from "./plan.ts";
import type { Sender } from "./sender.ts";

/** What is known of an organization while its steps run. */
export interface OrganizationRun {
  readonly slug: string;
  readonly partnerId: string | undefined;
  /** Undefined until it is created. */
  orgId: string | undefined;
  /** By folded name; grows as sites are created. */
  readonly siteIds: Map<string, string>;
}

export interface Tools {
  readonly rmm: RmmClient;
  readonly sender: Sender;
  readonly idempotencyKey: IdempotencyKeys;
  now(): number;
  deliver(sink: Sink, secret: string): Promise<void>;
}

type Done = Pick<ItemResult, "id" | "secret">;

/** Does one step. Throws what went wrong. */
export async function carryOut(step: Step, run: OrganizationRun, tools: Tools): Promise<Done> {
  if (step.action === "delete") return remove(step, tools);
  if (step.kind === "enrollmentKey") return handOut(step, run, tools);
  return step.action === "create" ? create(step, run, tools) : update(step, run, tools);
}

const siteIdOf = ({ site }: { site?: string | null }, { siteIds }: OrganizationRun): string | null =>
  site ? (siteIds.get(foldName(site)) as string) : null;

async function create(step: Step, run: OrganizationRun, tools: Tools): Promise<Done> {
  if (step.kind === "organization") return createOrganization(step, run, tools);
  return step.kind === "site" ? createSite(step, run, tools) : createContact(step, run, tools);
}

type Body<Noun extends keyof RmmClient, Verb extends keyof RmmClient[Noun]> = RmmClient[Noun][Verb] extends (
  input: infer I,
  ...rest: never[]
) => unknown
  ? I extends { body?: infer B }
    ? B
    : never
  : never;

/** The fields come from the file, which was checked against its schema. */
const bodyFor = <B>(step: Step, more: object = {}): B => ({ ...step.body, ...more }) as B;

async function createOrganization(step: Step, run: OrganizationRun, tools: Tools): Promise<Done> {
  const { rmm, sender } = tools;
  const { slug, partnerId } = run;
  const body = bodyFor<Body<"organizations", "create">>(step, partnerId === undefined ? {} : { partnerId });
  const { id } = await createOnce(tools, {
    identity: ["organization", partnerId, slug],
    body: { ...body },
    send: (options) => rmm.organizations.create({ body }, options),
    isStill: (created) =>
      unlessGone(
        async () => (await sender.send(() => rmm.organizations.get({ params: { id: created.id } }))).slug === slug,
      ),
  });
  run.orgId = id;
  return { id };
}

async function createSite(step: Step, run: OrganizationRun, tools: Tools): Promise<Done> {
  const { rmm, sender } = tools;
  const body = bodyFor<Body<"sites", "create">>(step, { orgId: run.orgId });
  const isThis = ({ name }: { name: string }) => foldName(name) === foldName(step.name);
  const { id } = await createOnce(tools, {
    identity: ["site", run.orgId, foldName(step.name)],
    body: { ...body },
    send: (options) => rmm.sites.create({ body }, options),
    isStill: (created) =>
      unlessGone(async () => isThis(await sender.send(() => rmm.sites.get({ params: { id: created.id } })))),
  });
  run.siteIds.set(foldName(step.name), id);
  return { id };
}

async function createContact(step: Step, run: OrganizationRun, tools: Tools): Promise<Done> {
  const { rmm, sender } = tools;
  const params = { id: run.orgId as string };
  const siteId = siteIdOf(step, run);
  const body = bodyFor<Body<"contacts", "create">>(step, siteId === null ? {} : { siteId });
  const { id } = await createOnce(tools, {
    identity: ["contact", run.orgId, step.name],
    body: { ...body },
    send: (options) => rmm.contacts.create({ params, body }, options),
    isStill: async (created) => {
      const all = await sender.send(() => rmm.contacts.list({ params, query: { limit: 100 } }).toArray());
      const found = all.find((one) => one.id === created.id);
      return found !== undefined && found.name === created.name && found.email === created.email;
    },
  });
  return { id };
}

/** Another tenant's row and a deleted one look the same: gone. A foreign or deleted site answers 403. */
async function unlessGone(look: () => Promise<boolean>): Promise<boolean> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof NotFoundError || (error as { code?: string }).code === "SITE_ACCESS_DENIED") return false;
    throw error;
  }
}

async function update(step: Step, run: OrganizationRun, { rmm, sender }: Tools): Promise<Done> {
  const id = (step.id ?? run.orgId) as string;
  const siteId = step.site === undefined ? {} : { siteId: siteIdOf(step, run) };
  const call = {
    organization: () => rmm.organizations.update({ params: { id }, body: bodyFor(step) }, { retries: 0 }),
    site: () => rmm.sites.update({ params: { id }, body: bodyFor(step) }, { retries: 0 }),
    contact: () => rmm.contacts.update({ params: { contactId: id }, body: bodyFor(step, siteId) }, { retries: 0 }),
  }[step.kind as "organization" | "site" | "contact"] as () => PromiseLike<{ id: string }>;
  await sender.send(call, { repeatable: true });
  return { id };
}

async function remove({ kind, id = "" }: Step, { rmm, sender }: Tools): Promise<Done> {
  const call = {
    site: () => rmm.sites.remove({ params: { id } }, { retries: 0 }),
    contact: () => rmm.contacts.remove({ params: { contactId: id } }, { retries: 0 }),
    enrollmentKey: () => rmm.enrollmentKeys.remove({ params: { id } }, { retries: 0 }),
  }[kind as "site" | "contact" | "enrollmentKey"] as () => PromiseLike<unknown>;
  try {
    await sender.send(call, { repeatable: true });
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error; // gone already, by a run that did not see the answer
  }
  return { id };
}

/** Mints a key, or fetches the secret of one that exists; done only when the secret is in its sink. */
async function handOut(step: Step, run: OrganizationRun, tools: Tools): Promise<Done> {
  const key = step.key as FileKey;
  const sink = key.sink as Sink;
  const { id, secret } = await secretOf(step, key, run, tools);
  await tools.deliver(sink, secret);
  return sink.kind === "stdout" ? { id, secret } : { id };
}

async function secretOf(step: Step, key: FileKey, run: OrganizationRun, tools: Tools): Promise<Minted> {
  const { rmm, sender, idempotencyKey, now } = tools;
  const minting = { rmm, sender, idempotencyKey, orgId: run.orgId as string, key, siteId: siteIdOf(key, run) };
  if (step.action === "create") return mintKey({ ...minting, nowMs: now() });
  const live = await sender.send(() => rmm.enrollmentKeys.get({ params: { id: step.id as string } }));
  return fetchSecret({ ...minting, live });
}
