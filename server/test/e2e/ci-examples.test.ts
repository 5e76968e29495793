import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { seedPartnerPrincipal } from "#fixtures/nouns/credentials/partner-service-principals";
import { enrollmentKeyHash } from "#server/features/credentials/enrollment-keys/key-hash";
import { seedPartner, startTestServer, type TestServer } from "../harness.ts";
import { ciRunner, maskedLog, type Runner, type StepRun } from "./ci-runner.ts";

const examples = fileURLToPath(new URL("../../../fixtures/files/ci/", import.meta.url));
const example = (name: string): string => readFileSync(join(examples, name), "utf8");

const ROLLOUT = `#!/bin/sh\nread -r key\nprintf '%s' "$key" > "handed-to-$1"\n`;

describe("the examples for pipelines, on the runners they are for", () => {
  let server: TestServer;
  let runner: Runner;
  let partnerKey: string;

  beforeEach(async () => {
    server = await startTestServer("sqlite");
    const { partnerId } = await seedPartner(server, "acme");
    ({ partnerKey } = await seedPartnerPrincipal(server.db, server.services, partnerId));
    runner = freshRunner();
  });
  afterEach(async () => {
    runner?.remove();
    await server?.stop();
  });

  function freshRunner(): Runner {
    const made = ciRunner();
    made.write("rollout.sh", ROLLOUT, 0o755);
    return made;
  }

  const ownerOf = async (secret: string) => {
    const hash = enrollmentKeyHash(server.services.config.enrollmentKeyPeppers[0] as string, secret);
    const found = await server.db.selectFrom("enrollmentKeys").select("name").where("keyHash", "=", hash).execute();
    return found[0]?.name;
  };
  const keyCount = async () => (await server.db.selectFrom("enrollmentKeys").select("id").execute()).length;

  describe("GitHub Actions", () => {
    interface Step {
      name?: string;
      id?: string;
      if?: string;
      uses?: string;
      run?: string;
      env?: Record<string, string>;
    }
    interface Workflow {
      jobs: Record<string, { env: Record<string, string>; steps: Step[] }>;
    }

    /** Runs the job's own steps; steps with `uses` are replaced by the existing working copy. */
    async function runJob(): Promise<StepRun[]> {
      const job = (parse(example("github-actions.yml")) as Workflow).jobs["provision"]!;
      runner.write("customers.yaml", example("github-customers.yaml"));
      const outputs: Record<string, string> = {};
      const known: Record<string, string> = {
        "vars.RMM_SERVER": server.url,
        "secrets.RMM_API_KEY": partnerKey,
      };
      const filled = (text: string) =>
        text.replace(/\$\{\{\s*([\w.]+)\s*\}\}/g, (_, name: string) => known[name] ?? outputs[name] ?? "");
      const runs: StepRun[] = [];
      for (const [at, step] of job.steps.entries()) {
        if (step.run === undefined) continue;
        const wanted = /^steps\.(\S+) != ''$/.exec(step.if ?? "")?.[1];
        if (step.if !== undefined) expect(wanted, `this test knows no \`if: ${step.if}\``).toBeDefined();
        if (wanted !== undefined && !outputs[`steps.${wanted}`]) continue;
        const files = Object.fromEntries(
          ["GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_STEP_SUMMARY"].map((name) => {
            runner.write(`${name}-${at}`, "");
            return [name, join(runner.dir, `${name}-${at}`)];
          }),
        );
        const env = { ...job.env, ...step.env };
        const own = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, filled(value)]));
        const ran = await runner.script(step.name ?? "", filled(step.run), {
          GITHUB_ACTIONS: "true",
          GITHUB_WORKSPACE: runner.dir,
          RUNNER_OS: "Linux",
          ...files,
          ...own,
        });
        runs.push(ran);
        for (const line of runner.read(`GITHUB_OUTPUT-${at}`).split("\n").filter(Boolean)) {
          const [name, ...value] = line.split("=");
          outputs[`steps.${step.id}.outputs.${name}`] = value.join("=");
        }
        if (ran.code !== 0) break;
      }
      return runs;
    }

    it("creates the customers, passes the key on, and masks it in the log from the first line", async () => {
      const runs = await runJob();
      expect(
        runs.map(({ name, code }) => `${name}: ${code}`),
        runs.at(-1)?.log,
      ).toEqual(["Ask whether the key may mint: 0", "Plan: 0", "Apply: 0", "Hand the new key to the rollout: 0"]);
      const secret = runner.read("handed-to-harbor-dental");
      expect(await ownerOf(secret)).toBe("rollout");
      const log = runs.map((run) => run.log).join("");
      const shown = maskedLog(log);
      expect(log).toContain(`::add-mask::${secret}\n`);
      expect(shown).toContain("handed over ***");
      for (const text of [
        shown,
        runner.read("result.json"),
        runner.read("plan.txt"),
        runner.read("GITHUB_STEP_SUMMARY-2"),
      ]) {
        expect(text).not.toContain(secret);
        expect(text).not.toContain(partnerKey);
      }
      // The step that first has the secret masks it before it prints anything else.
      expect(log.indexOf(secret)).toBe(log.indexOf("::add-mask::") + "::add-mask::".length);
    });

    it("a later run on another machine mints nothing", async () => {
      await runJob();
      const before = await keyCount();
      runner.remove();
      runner = freshRunner();
      const again = await runJob();
      expect(again.map(({ code }) => code)).toEqual([0, 0, 0]);
      expect(await keyCount()).toBe(before);
      expect(maskedLog(again.map((run) => run.log).join(""))).toContain("no changes");
    });

    it("fails with the reason in the log where the key may not mint, before anything is made", async () => {
      await server.db.updateTable("partnerServicePrincipals").set({ expiresAt: null }).execute();
      const runs = await runJob();
      expect(runs.map(({ code }) => code)).toEqual([5]);
      expect(runs[0]?.log).toContain("source allowlist");
      expect(await server.db.selectFrom("organizations").select("id").execute()).toEqual([]);
    });
  });

  describe("GitLab", () => {
    interface Job {
      extends?: string;
      variables?: Record<string, string>;
      before_script?: string[];
      script?: string[];
      stage?: string;
      retry?: { exit_codes: number[] };
    }

    /** Runs all lines of a job in one shell and prints each before it runs, as GitLab does. */
    async function runJob(name: string): Promise<StepRun> {
      const pipeline = parse(example("gitlab-ci.yml")) as Record<string, Job>;
      const own = pipeline[name]!;
      const job = { ...(own.extends ? pipeline[own.extends] : {}), ...own };
      runner.write("customers.yaml", example("gitlab-customers.yaml"));
      runner.write("RMM_TOKEN_FILE", `${partnerKey}\n`, 0o600);
      const lines = [...(job.before_script ?? []), ...(job.script ?? [])];
      const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
      const script = lines.map((line) => `echo ${quoted(`$ ${line.split("\n")[0]}`)}\n${line}`).join("\n");
      return runner.script(name, script, {
        GITLAB_CI: "true",
        CI_PROJECT_DIR: runner.dir,
        CI_JOB_NAME: name,
        RMM_SERVER: server.url,
        RMM_TOKEN_FILE: join(runner.dir, "RMM_TOKEN_FILE"),
        ...job.variables,
      });
    }

    it("plans, applies, passes the keys on from files, and no log or artifact has a secret", async () => {
      const plan = await runJob("plan");
      expect(plan.code, plan.log).toBe(0);
      expect(plan.log).toContain("create enrollment key");
      expect(await keyCount()).toBe(0);
      const apply = await runJob("apply");
      expect(apply.code, apply.log).toBe(0);
      const secrets = ["harbor-dental", "quay-legal"].map((slug) => runner.read(`handed-to-${slug}`));
      for (const secret of secrets) {
        expect(await ownerOf(secret)).toBe("rollout");
        for (const text of [plan.log, apply.log, runner.read("result.json"), runner.read("plan.txt")]) {
          expect(text).not.toContain(secret);
          expect(text).not.toContain(partnerKey);
        }
      }
      expect(runner.exists("secrets/harbor-dental.key")).toBe(false);
      const again = await runJob("apply");
      expect(again.code, again.log).toBe(0);
      expect(await keyCount()).toBe(2);
    });

    it("ends with the exit code that the job retries while the server is down", async () => {
      const { url } = server;
      await server.stop();
      const ran = await runJob("apply");
      const { retry } = (parse(example("gitlab-ci.yml")) as Record<string, Job>)["apply"]!;
      expect(retry?.exit_codes, `${url}: ${ran.log}`).toContain(ran.code);
      server = await startTestServer("sqlite");
    });
  });
});
