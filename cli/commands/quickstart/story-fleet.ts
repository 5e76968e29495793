import { CliError } from "../../errors/cli-error.ts";
import { readOwnText } from "../../input/read-text.ts";
import { readModel } from "../../provisioning/read-model.ts";
import type { Stage } from "./stage.ts";

const DEVICES = 50;
const PER_KEY = 10;

interface Key {
  org: string;
  name: string;
  site: string;
  path: string;
}

/** Fifty machines join with keys that the file minted, and with one minted by hand. Returns one organization of theirs. */
export async function fleetStory({ say, server }: Stage): Promise<{ devices: number; org: string }> {
  await say.heading("Mint an enrollment key by hand");
  const minted = (await mintedKeys()).slice(0, DEVICES / PER_KEY - 1);
  const org = minted[0]!.org;
  const byHand = { org, name: "quickstart", site: minted[0]!.site, path: "secrets/quickstart.key" };
  const create = ["enrollment-keys", "create", "--org", org, "--site", byHand.site, "--name", byHand.name];
  await say.run([...create, "--max-usage", String(PER_KEY), "--secret-file", byHand.path]);

  await say.heading(`Enroll ${DEVICES} devices`);
  await say.text(
    "Simulated agents do over HTTP what an installed agent does: POST /api/v1/agents/enroll with the key, then a " +
      "first heartbeat. Each group has a key of its own:",
  );
  for (const key of [byHand, ...minted]) {
    const hostnames = await enroll(server.url, key);
    await say.answer(`  ${key.path.padEnd(44)} ${hostnames.length} devices: ${hostnames.slice(0, 3).join(", ")} …\n`);
  }
  const columns = ["--columns", "hostname,status,osType,orgName,siteName,lastSeenAt"];
  await say.run(["devices", "list", "--limit", "8", ...columns]);
  await say.run(["devices", "list", "--org", org, "--os-type", "windows", "--limit", "3", ...columns]);
  return { devices: DEVICES, org };
}

/** Keys of the book that let in a whole group, one of each organization. */
async function mintedKeys(): Promise<Key[]> {
  const { model } = await readModel(await readOwnText("tenants.yaml"));
  return (model?.organizations ?? []).flatMap(({ slug, enrollmentKeys = [] }) =>
    enrollmentKeys
      .filter(({ maxUsage }) => (maxUsage ?? PER_KEY) >= PER_KEY)
      .flatMap(({ name, site, sink }) =>
        sink?.kind === "file" ? [{ org: slug, name, site: site ?? "", path: sink.path }] : [],
      )
      .slice(0, 1),
  );
}

async function enroll(baseUrl: string, { org, path }: Key): Promise<string[]> {
  const { enrollFleet } = await import("#fixtures/simulators/agent/fleet");
  const enrollmentKey = (await readOwnText(path)).trim();
  const fleet = await enrollFleet({ baseUrl, enrollmentKey, count: PER_KEY, seed: `${org} ${path}`, maxWaitMs: 5_000 });
  const refused = fleet.refused[0];
  if (refused !== undefined || (await fleet.heartbeatAll()) > 0) {
    throw new CliError(`Enroll ${DEVICES} devices: ${refused?.hostname ?? "a heartbeat"} was refused`, {
      exit: "failure",
      code: "QUICKSTART_FAILED",
      details:
        refused === undefined ? undefined : [`${refused.error.status} ${refused.error.code}: ${refused.error.message}`],
    });
  }
  return fleet.agents.map(({ machine }) => machine.hostname);
}
