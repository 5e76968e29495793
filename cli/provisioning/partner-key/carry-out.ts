import { ConflictError, ForbiddenError, NotFoundError } from "#sdk/errors";
import { CliError } from "../../errors/cli-error.ts";
import type { OrganizationRun, Tools } from "../carry-out.ts";
import { createOnce } from "../create-once.ts";
import { rotation } from "../diff-keys.ts";
import type { ItemResult } from "../item-result.ts";
import { type FileKey, foldName, type Sink } from "../model.ts";
import type { Step } from "../plan.ts";
import { deadSecret, replayOf } from "../replay.ts";

type Done = Pick<ItemResult, "id" | "secret">;
type Bodies = {
  [V in "createOrganization" | "createSite" | "createEnrollmentKey"]: Parameters<
    Tools["rmm"]["partnerApi"][V]
  >[0]["body"];
};

/** Does one step with a partner key: it creates, and nothing else. Throws what went wrong. */
export async function carryOutByPartnerKey(step: Step, run: OrganizationRun, tools: Tools): Promise<Done> {
  if (step.kind === "organization") return createOrganization(step, run, tools);
  return step.kind === "site" ? createSite(step, run, tools) : mint(step, run, tools);
}

async function createOrganization(step: Step, run: OrganizationRun, tools: Tools): Promise<Done> {
  const { rmm, sender } = tools;
  const body = step.body as unknown as Bodies["createOrganization"];
  const { data } = await createOnce(tools, {
    identity: organizationIdentity(run),
    body: { ...body },
    send: (options) => rmm.partnerApi.createOrganization({ body }, options),
    isStill: ({ data: { id } }) =>
      isThere(sender, () => rmm.partnerApi.organizations({ query: { orgId: id, limit: 1 } })),
  });
  run.orgId = data.id;
  return { id: data.id };
}

const organizationIdentity = ({ slug }: OrganizationRun) => ["partner-key", "organization", slug] as const;

const answers = new WeakMap<OrganizationRun, Promise<boolean>>();

/**
 * Whether an earlier run with this partner key made the organization within the server's memory of a day: then its keys
 * are this run's to go on with. The same request is sent again, which makes nothing while the slug is taken.
 */
function madeByThisCaller(sent: Step["body"], run: OrganizationRun, tools: Tools): Promise<boolean> {
  const asked = answers.get(run) ?? ask(sent, run, tools);
  answers.set(run, asked);
  return asked;
}

async function ask(sent: Step["body"], run: OrganizationRun, { rmm, sender, idempotencyKey }: Tools): Promise<boolean> {
  const body = sent as unknown as Bodies["createOrganization"];
  const key = idempotencyKey([...organizationIdentity(run), { ...body }, 0]);
  try {
    const send = () => rmm.partnerApi.createOrganization({ body }, { idempotencyKey: key, retries: 0 }).withResponse();
    const { data, response } = await sender.send(send, { repeatable: true });
    return replayOf(response).replayed && data.data.id === run.orgId;
  } catch (error) {
    // Taken by another's organization, more than a day old, or no organizations:write: not known to be this caller's.
    if (error instanceof ConflictError || error instanceof ForbiddenError) return false;
    throw error;
  }
}

const mayExist = (slug: string): CliError =>
  new CliError(
    `A key of this name may be there, which a partner key does not see, and this one did not make ${slug} within a day`,
    {
      exit: "conflict",
      code: "KEY_MAY_EXIST",
      hint: "--no-sink-check takes it as made; --redeliver mints it; a signed-in user sees it: `rmm enrollment-keys list`",
    },
  );

/** One that is gone, or out of the key's reach, answers 404. */
async function isThere(
  sender: Tools["sender"],
  look: () => PromiseLike<{ items: readonly unknown[] }>,
): Promise<boolean> {
  try {
    return (await sender.send(look)).items.length > 0;
  } catch (error) {
    if (error instanceof NotFoundError) return false;
    throw error;
  }
}

async function createSite(step: Step, run: OrganizationRun, tools: Tools): Promise<Done> {
  const { rmm, sender } = tools;
  const orgId = run.orgId as string;
  const body = { ...step.body, orgId } as unknown as Bodies["createSite"];
  const { data } = await createOnce(tools, {
    identity: ["partner-key", "site", orgId, foldName(step.name)],
    body: { ...body },
    send: (options) => rmm.partnerApi.createSite({ body }, options),
    isStill: async ({ data: { id } }) => {
      const sites = await sender.send(() => rmm.partnerApi.sites({ query: { orgId, limit: 500 } }).toArray());
      return sites.some((site) => site.id === id);
    },
  });
  run.siteIds.set(foldName(step.name), data.id);
  return { id: data.id };
}

/** Mints a key. Its lifetime is sent in minutes, so that a rerun sends the same request and gets the same secret. */
async function mint(step: Step, run: OrganizationRun, tools: Tools): Promise<Done> {
  const { rmm, deliver } = tools;
  const key = step.key as FileKey;
  const sink = key.sink as Sink;
  if (step.onlyIfMadeWith && !(await madeByThisCaller(step.onlyIfMadeWith, run, tools))) throw mayExist(run.slug);
  const body = mintBody(key, run);
  const { data, key: secret } = await createOnce(tools, {
    identity: ["partner-key", "enrollmentKey", run.orgId, foldName(key.name)],
    body,
    send: (options) => rmm.partnerApi.createEnrollmentKey({ body }, options),
    isStill: async (made, { secret: state }) => {
      if (state === "stale")
        throw deadSecret(state, `A signed-in user gives it a new one: \`${rotation(key, made.data, [])}\``);
      return state === "current";
    },
  });
  await deliver(sink, secret);
  return sink.kind === "stdout" ? { id: data.id, secret } : { id: data.id };
}

function mintBody({ name, site, maxUsage, expiresAt, expiresInMs }: FileKey, run: OrganizationRun) {
  return {
    orgId: run.orgId as string,
    name,
    maxUsage: maxUsage ?? 1,
    ...(site ? { siteId: run.siteIds.get(foldName(site)) as string } : {}),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(expiresInMs === undefined ? {} : { ttlMinutes: Math.round(expiresInMs / 60_000) }),
  };
}
