import { importsOf, isTest, sources } from "./sources.ts";

/** Who may import whom (server/README.md, "Rooms"). The first rule whose `from` matches decides. */
const rules: readonly { from: RegExp; may: RegExp; says: string }[] = [
  { from: /^sdk\/contract\//, may: /^(sdk\/contract\/|zod$|fixtures\/)/, says: "the contract imports zod and itself" },
  { from: /^sdk\//, may: /^(sdk\/|node:|ky$)/, says: "the SDK imports the contract and ky" },
  {
    from: /^cli\//,
    // The pure half of the audit room besides: who verifies a bundle offline must run the very code that has the
    // published test vectors, and a copy in the CLI could drift from it. None of these files opens a database.
    may: /^(?!server\/(?!(main|config|bootstrap|app|doctor|audit-bundle)\.ts|audit\/(bundle|anchor-file|anchor-format|anchor-signing|lf-lines|prune-checks|statement-checks|verify-result)\.ts))/,
    says: "the CLI imports the server's front door and the pure files of the audit room only",
  },
  {
    from: /^server\/(access|db|audit|jobs|platform)\//,
    may: /^(?!server\/(features|http|background|main)\b|cli\/|sdk\/(?!contract\/))/,
    says: "access, db, audit, jobs and platform import neither features nor http",
  },
  {
    from: /^server\/http\//,
    may: /^(?!server\/features\/|cli\/|sdk\/(?!contract\/))/,
    says: "http never imports features",
  },
  {
    from: /^server\/features\//,
    may: /^(?!server\/http\/(?!(call|implement|limit-request)\.ts)|cli\/|sdk\/(?!contract\/))/,
    says: "features see http through call and implement",
  },
  { from: /^server\//, may: /^(?!cli\/|sdk\/(?!contract\/))/, says: "the server imports the contract alone" },
];

export async function boundaryFaults(): Promise<string[]> {
  const faults: string[] = [];
  for (const source of sources()) {
    if (isTest(source.path)) continue;
    for (const { from, to } of importsOf(source)) {
      if (isTest(to)) faults.push(`${from} imports a test: ${to}`);
      const rule = rules.find((candidate) => candidate.from.test(from));
      if (rule && !rule.may.test(to)) faults.push(`${from} imports ${to}: ${rule.says}`);
    }
    faults.push(...unscopedFaults(source));
  }
  return faults;
}

/** Raw SQL and handles without the tenant scope exist in the database room only (design, lock 2). */
function unscopedFaults({ path, text }: { path: string; text: string }): string[] {
  const inside = /^server\/(db|audit)\//.test(path);
  if (!path.startsWith("server/") || inside) return [];
  const faults: string[] = [];
  if (/\bsql(<[^>]*>)?`|\bsql\.raw\b|import\s*\{[^}]*\bsql\b[^}]*\}\s*from "kysely"/.test(text))
    faults.push(`${path} writes raw SQL`);
  if (/withoutPlugins\(/.test(text)) faults.push(`${path} drops the tenant scope`);
  if (/\.connection\(/.test(text)) faults.push(`${path} opens an unscoped connection`);
  if (path !== "server/config.ts" && /process\.env/.test(text))
    faults.push(`${path} reads the environment; only config.ts does`);
  return faults;
}
