import { randomBytes } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { plainMembership, plainUser } from "#fixtures/nouns/people/users";
import { plainSession } from "#fixtures/nouns/sign-in/sessions";
import { seedTenant } from "#fixtures/world";
import { builtInRoleId } from "#server/access/roles";
import { readConfig } from "#server/config";
import { startServer } from "#server/main";
import { seedAgents } from "./seed-agents.ts";
import { seedFilterFacts } from "./seed-filters.ts";
import { type FleetSize, seedFleet } from "./seed-fleet.ts";
import { seedRules } from "./seed-rules.ts";

/** The real server as in production, request log on, one partner, and people who may read. argv: [database url [fleet]] */
const PEOPLE = 20;
const dataDir = mkdtempSync(join(tmpdir(), "rmm-bench-"));
const [url, fleet] = process.argv.slice(2);
const secret = randomBytes(32).toString("hex");
const config = readConfig({
  NODE_ENV: "production",
  JWT_SECRET: secret,
  SECRET_ENCRYPTION_KEY: secret,
  AGENT_ENROLLMENT_SECRET: secret,
  PORT: "0",
  RMM_DATA_DIR: dataDir,
  API_RATE_LIMIT_PER_MINUTE: "100000000",
  AGENT_ENROLL_RATE_LIMIT: "100000000",
  ...(url ? { DATABASE_URL: url } : {}),
});
const server = await startServer({ config });
const { services } = server;
const db = services.store.connection("system");
const tenant = await seedTenant(db, services, "bench");
const size = fleet ? (JSON.parse(fleet) as FleetSize) : undefined;
const seeded = size ? await seedFleet(db, services, tenant.partnerId, size) : undefined;
if (size?.facts) await seedFilterFacts(db, services);
const agents = size?.agents ? await seedAgents(db, services, tenant, size.agents) : undefined;
if (size?.rules) await seedRules(db, services, { orgId: tenant.orgId, count: size.rules });
/** The access token of a new administrator of the partner. */
async function signedIn(name: string): Promise<string> {
  const now = services.clock.now();
  const [userId, sessionId, roleId] = [services.random.uuid(), services.random.uuid(), builtInRoleId("Partner Admin")];
  await db
    .insertInto("users")
    .values({ ...plainUser(now), id: userId, email: `${name}@bench.example`, name })
    .execute();
  await db
    .insertInto("partnerUsers")
    .values({
      id: services.random.uuid(),
      partnerId: tenant.partnerId,
      userId,
      roleId,
      orgAccess: "all",
      ...plainMembership(now),
    })
    .execute();
  await db
    .insertInto("sessions")
    .values({ id: sessionId, userId, ...plainSession(now) })
    .execute();
  return services.accessTokens.sign({
    ...{ sub: userId, sid: sessionId, scope: "partner", partnerId: tenant.partnerId, orgId: null, roleId },
    ...{ mfa: true, jti: services.random.uuid() },
  });
}
const people: string[] = [];
for (let index = 0; index < PEOPLE; index += 1) people.push(await signedIn(`bench-${index}`));
process.stdout.write(
  `${JSON.stringify({
    url: server.url,
    path: `/api/v1/orgs/organizations/${tenant.orgId}`,
    token: people[0],
    people,
    orgId: tenant.orgId,
    siteId: tenant.siteId,
    enrollmentSecret: secret,
    partnerId: tenant.partnerId,
    fleetOrgId: seeded?.orgIds[0],
    file: services.store.file,
    agents,
  })}\n`,
);
/** What watches the event loop wakes so often itself. */
const RESOLUTION_MS = 5;
const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delays.enable();
process.on("SIGUSR2", () => {
  process.stdout.write(`${Math.max(0, delays.max / 1e6 - RESOLUTION_MS)}\n`);
  delays.reset();
});
process.on("SIGTERM", () => void server.stop().then(() => process.exit(0)));
