import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { createDatabase, type PostgresCluster, startPostgres } from "#fixtures/postgres";
import { started, type Target } from "./bench/target.ts";

/**
 * `npm run soak -- [minutes] [sqlite|postgres]`: mixed reads, writes, enrolments and heartbeats at full speed from this
 * process against the real server in another. Fails on any answer that is no 2xx, for a soak that is refused soaks nothing; reports latencies and memory over time.
 */
const minutes = Number(process.argv[2] ?? 10);
const databases = process.argv[3] ? [process.argv[3]] : ["sqlite", "postgres"];
const WORKERS = 24;

interface Sample {
  kind: string;
  ms: number;
  status: number;
}

async function soak(database: string): Promise<void> {
  let cluster: PostgresCluster | undefined;
  const args: string[] = [];
  if (database === "postgres") {
    cluster = await startPostgres({ durable: true });
    args.push(await createDatabase({ label: "soak", cluster: cluster.url }));
  }
  const server = await started("read-server", args);
  try {
    await report(database, server, await drive(server));
  } finally {
    server.process.kill("SIGTERM");
    await cluster?.stop();
  }
}

async function drive(server: Target): Promise<{ samples: Sample[]; memoryMb: number[] }> {
  const samples: Sample[] = [];
  const memoryMb: number[] = [];
  const watch = setInterval(() => memoryMb.push(residentMb(server.process.pid as number)), 5_000);
  const end = performance.now() + minutes * 60_000;
  const send = sender(server, samples);
  const { body } = await send("key", "POST", "/enrollment-keys", {
    orgId: server.orgId,
    siteId: server.siteId,
    name: "soak",
    maxUsage: 100_000,
  });
  const key = (body as { key: string }).key;
  const devices: { id: string; token: string; beats: number }[] = [];
  let made = 0;

  const enrol = async () => {
    made += 1;
    const answer = await send(
      "enrol",
      "POST",
      "/agents/enroll",
      {
        enrollmentKey: key,
        enrollmentSecret: server.enrollmentSecret,
        hostname: `soak-${made}`,
        osType: "linux",
        osVersion: "12",
        architecture: "x64",
        agentVersion: "1.0.0",
      },
      null,
    );
    const device = answer.body as { deviceId: string; agentToken: string };
    if (answer.status === 201) devices.push({ id: device.deviceId, token: device.agentToken, beats: 0 });
  };
  const beat = async () => {
    const device = devices[Math.floor(Math.random() * devices.length)];
    if (!device) return enrol();
    await send(
      "heartbeat",
      "POST",
      `/agents/${device.id}/heartbeat`,
      {
        status: "ok",
        agentVersion: "1.0.0",
        metrics: { cpuPercent: 10, ramPercent: 20, diskPercent: 30 },
      },
      device.token,
    );
  };
  const reads = [
    () => send("read", "GET", server.path.slice("/api/v1".length)),
    () => send("list", "GET", "/orgs/sites?limit=20"),
    () => send("devices", "GET", "/devices?cursor=&limit=50"),
    () => send("audit", "GET", "/audit-logs?limit=20&skipCount=true"),
  ];
  const write = () => send("write", "POST", "/orgs/sites", { orgId: server.orgId, name: `Soak ${Math.random()}` });
  const run = async () => {
    while (performance.now() < end) {
      const dice = Math.random();
      if (dice < 0.55) await reads[Math.floor(Math.random() * reads.length)]?.();
      else if (dice < 0.7) await write();
      else if (dice < 0.75) await enrol();
      else await beat();
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, run));
  clearInterval(watch);
  return { samples, memoryMb };
}

function sender(server: Target, samples: Sample[]) {
  const agent = new Agent({ keepAlive: true, maxSockets: WORKERS });
  const { hostname, port } = new URL(server.url);
  return (kind: string, method: string, path: string, body?: object, token: string | null = server.token ?? null) =>
    new Promise<{ status: number; body: unknown }>((resolve, reject) => {
      const started = performance.now();
      const text = body === undefined ? undefined : JSON.stringify(body);
      const headers = {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(text === undefined
          ? {}
          : { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
      };
      const outgoing = request({ agent, hostname, port, method, path: `/api/v1${path}`, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => {
          const status = response.statusCode ?? 0;
          samples.push({ kind, ms: performance.now() - started, status });
          resolve({ status, body: JSON.parse(Buffer.concat(chunks).toString() || "null") });
        });
      });
      outgoing.on("error", reject);
      outgoing.end(text);
    });
}

async function report(
  database: string,
  server: Target,
  { samples, memoryMb }: { samples: Sample[]; memoryMb: number[] },
): Promise<void> {
  const broken = samples.filter((sample) => sample.status >= 500);
  process.stdout.write(
    `\n${database}: ${samples.length} requests in ${minutes} min, ${Math.round(samples.length / (minutes * 60))}/s, ${broken.length} answered 5xx\n`,
  );
  process.stdout.write("| request | count | p50 ms | p99 ms | other than 2xx |\n|---|---|---|---|---|\n");
  for (const kind of [...new Set(samples.map((sample) => sample.kind))].sort()) {
    const own = samples.filter((sample) => sample.kind === kind);
    const sorted = own.map((sample) => sample.ms).sort((a, b) => a - b);
    const at = (share: number) =>
      (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1);
    process.stdout.write(
      `| ${kind} | ${own.length} | ${at(0.5)} | ${at(0.99)} | ${own.filter((sample) => sample.status >= 300).length} |\n`,
    );
  }
  const third = Math.max(1, Math.floor(memoryMb.length / 3));
  const mean = (values: number[]) =>
    Math.round(values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length));
  process.stdout.write(
    `resident memory: first third ${mean(memoryMb.slice(0, third))} MB, last third ${mean(memoryMb.slice(-third))} MB, most ${Math.max(...memoryMb)} MB (pid ${server.process.pid})\n`,
  );
  if (samples.some((sample) => sample.status >= 300)) process.exitCode = 1;
}

const residentMb = (pid: number) =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024);

for (const database of databases) await soak(database);
