import { afterAll, beforeAll, expect, it } from "vitest";
import { auditHandle } from "#server/audit/handle";
import { type SignedInUser, seedPartner, signIn } from "../harness.ts";
import { inProof, MINUTES, PROOF_TIMEOUT_MS } from "../proving.ts";
import { checkChains } from "./check-ledger.ts";
import { type Installation, install, type ServerProcess } from "./processes.ts";

const EACH = inProof({ long: 1_000, short: 25 });
const WRITERS = [16, 8] as const;

let installation: Installation;
let processes: ServerProcess[];
let admin: SignedInUser;
let orgIds: string[];

beforeAll(async () => {
  installation = await install("postgres", { migrated: true });
  processes = await Promise.all([installation.start(), installation.start()]);
  const partner = await seedPartner(installation, "chains", ["sixteen", "eight"]);
  orgIds = partner.orgIds;
  admin = await signIn(installation, { role: "Partner Admin", partnerId: partner.partnerId });
}, 5 * MINUTES);
afterAll(() => installation?.remove(), MINUTES);

/** Runs parallel writers, each alternating between the processes; returns statuses of failures and created ids. */
async function write(label: string, each: number, lost: () => boolean) {
  const made: { orgId: string; id: string }[] = [];
  const failures: string[] = [];
  const writer = async (orgId: string, name: string) => {
    for (let count = 0; count < each; count += 1) {
      const server = processes[count % processes.length] as ServerProcess;
      try {
        const body = { name: `${name}-${count}` };
        const path = `/orgs/organizations/${orgId}/contacts`;
        const answer = await server.request("POST", path, { token: admin.token, body });
        if (answer.status === 201) made.push({ orgId, id: answer.body.id });
        else failures.push(`${answer.status} ${JSON.stringify(answer.body)}`);
      } catch (error) {
        if (!lost()) failures.push(String(error));
      }
    }
  };
  await Promise.all(
    orgIds.flatMap((orgId, at) =>
      Array.from({ length: WRITERS[at] as number }, (_, index) => writer(orgId, `${label}-${at}-${index}`)),
    ),
  );
  return { made, failures };
}

const entriesOf = async (orgId: string): Promise<string[]> => {
  const rows = await auditHandle(installation.db)
    .selectFrom("auditLogs")
    .select("resourceId")
    .where("orgId", "=", orgId)
    .where("action", "=", "contact.create")
    .execute();
  return rows.map(({ resourceId }) => resourceId as string).sort();
};

const contactsOf = async (orgId: string): Promise<string[]> => {
  const rows = await installation.db.selectFrom("contacts").select("id").where("orgId", "=", orgId).execute();
  return rows.map(({ id }) => id).sort();
};

/** Expects positions from 1 without a gap, no entry with two successors, and one head. */
async function expectOneLine(orgId: string): Promise<void> {
  const links = await auditHandle(installation.db)
    .selectFrom("auditChain")
    .select(["chainSeq", "prevHash", "chainHash"])
    .where("chainKind", "=", "organization")
    .where("chainId", "=", orgId)
    .orderBy("chainSeq")
    .execute();
  expect(links.map(({ chainSeq }) => Number(chainSeq))).toEqual(links.map((_, index) => index + 1));
  const followed = links.map(({ prevHash }) => String(prevHash));
  expect(new Set(followed).size, "a predecessor that two entries follow").toBe(links.length);
  const heads = links.filter(({ chainHash }) => !followed.includes(String(chainHash)));
  expect(heads).toHaveLength(1);
}

it("16 and 8 writers over two processes: no request fails, each has one entry, and no chain forks (C31)", {
  timeout: PROOF_TIMEOUT_MS,
}, async () => {
  const { made, failures } = await write("calm", EACH, () => false);
  expect(failures).toEqual([]);
  await installation.settled();
  for (const [at, orgId] of orgIds.entries()) {
    const ids = made.filter((one) => one.orgId === orgId).map(({ id }) => id);
    expect(ids).toHaveLength((WRITERS[at] as number) * EACH);
    expect(await entriesOf(orgId)).toEqual(ids.sort());
    await expectOneLine(orgId);
  }
  await checkChains(installation, { server: processes[1] as ServerProcess, token: admin.token, orgIds });
});

it("no chain forks after one process was killed in the middle", { timeout: PROOF_TIMEOUT_MS }, async () => {
  let killed = false;
  const [survivor, victim] = processes as [ServerProcess, ServerProcess];
  const before = (await contactsOf(orgIds[0] as string)).length;
  const kill = async () => {
    while ((await contactsOf(orgIds[0] as string)).length < before + 80) await new Promise(setImmediate);
    killed = true;
    await victim.kill();
  };
  const [{ made, failures }] = await Promise.all([write("killed", 20, () => killed), kill()]);
  expect(failures).toEqual([]);
  expect(made.length).toBeGreaterThan(0);
  await installation.settled();
  for (const orgId of orgIds) {
    const stored = await contactsOf(orgId);
    expect(await entriesOf(orgId)).toEqual(stored);
    for (const { id } of made.filter((one) => one.orgId === orgId)) expect(stored).toContain(id);
    await expectOneLine(orgId);
  }
  await checkChains(installation, { server: survivor, token: admin.token, orgIds });
});
