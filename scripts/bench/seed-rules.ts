import type { Kysely } from "kysely";
import { plainRule } from "#fixtures/nouns/access-control/pam-rules";
import type { Database } from "#server/db/tables";
import type { PamRule } from "#server/db/tables/pam-rules";
import type { Services } from "#server/services";

const ROWS_MAX = 500;

/** Rules of every kind of criterion, of which the last alone matches `report`, and approves it. */
export function rulesOf(count: number, now: string, orgId: string, id: () => string): PamRule[] {
  return Array.from({ length: count }, (_, at) => {
    const rule = { ...plainRule(now), id: id(), orgId, name: `Rule ${at}`, priority: at };
    if (at === count - 1) return { ...rule, verdict: "auto_approve", matchSigner: "Contoso Ltd" };
    return { ...rule, ...kinds[at % kinds.length]!(at) };
  });
}

const kinds: readonly ((at: number) => Partial<PamRule>)[] = [
  (at) => ({ matchPathGlob: `C:\\Program Files\\Vendor ${at}\\**\\*.exe` }),
  (at) => ({ matchSigner: `Vendor ${at} Ltd` }),
  (at) => ({ matchHash: at.toString(16).padStart(64, "0") }),
  (at) => ({ matchUser: `CONTOSO\\user-${at}` }),
  (at) => ({ matchCommandLine: `--install-${at}` }),
];

/** A prompt as agents report it. */
export const report = {
  subject_username: "CONTOSO\\jana",
  target_executable_path: "C:\\Program Files\\Contoso\\Setup\\printer.exe",
  target_executable_hash: "ab".repeat(32),
  target_executable_signer: "Contoso Ltd",
  target_executable_signer_thumbprint: "cd".repeat(32),
  target_publisher: "Contoso",
  subject_groups: ["Users", "Remote Desktop Users"],
  parent_image: "C:\\Windows\\explorer.exe",
  command_line: '"C:\\Program Files\\Contoso\\Setup\\printer.exe" /S /norestart',
};

/** Past the limit of the API, which stops at 500. */
export async function seedRules(
  db: Kysely<Database>,
  { clock, random }: Pick<Services, "clock" | "random">,
  { orgId, count }: { readonly orgId: string; readonly count: number },
): Promise<void> {
  const rules = rulesOf(count, clock.now(), orgId, () => random.uuid());
  for (let from = 0; from < count; from += ROWS_MAX)
    await db
      .insertInto("pamRules")
      .values(rules.slice(from, from + ROWS_MAX))
      .execute();
}
