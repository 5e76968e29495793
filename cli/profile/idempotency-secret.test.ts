import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { idempotencySecret } from "./idempotency-secret.ts";

const user = { credentials: { token: "a token of today", kind: "user" } } as const;
const key = (secret: string) => ({ credentials: { apiKey: secret } });

describe("the secret of idempotency keys", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "rmm-secret-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const at = (name: string) => ({ env: { RMM_CONFIG_DIR: join(folder, name) } });
  const fileOf = (name: string) => join(folder, name, "idempotency-secret.json");

  it("of a user's session is made once for an installation, and only its owner can read it", async () => {
    const secret = await idempotencySecret(at("one"), user);
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    expect(await idempotencySecret(at("one"), { credentials: { token: "a token of tomorrow", kind: "user" } })).toBe(
      secret,
    );
    expect(await idempotencySecret(at("two"), user)).not.toBe(secret);
    expect(statSync(fileOf("one")).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, "one")).mode & 0o777).toBe(0o700);
    chmodSync(fileOf("one"), 0o644);
    expect(await idempotencySecret(at("one"), user)).toBe(secret);
    expect(statSync(fileOf("one")).mode & 0o777).toBe(0o600);
  });

  it("is one, whichever of many first runs makes it", async () => {
    const secrets = await Promise.all(Array.from({ length: 8 }, () => idempotencySecret(at("race"), user)));
    expect(new Set(secrets).size).toBe(1);
    expect(readdirSync(join(folder, "race"))).toEqual(["idempotency-secret.json"]);
  });

  it("of a key follows from the key wherever it is used, reveals nothing of it, and leaves no file", async () => {
    const secret = await idempotencySecret(at("one"), key("svc_sp_first"));
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    expect(await idempotencySecret(at("two"), key("svc_sp_first"))).toBe(secret);
    expect(await idempotencySecret(at("one"), key("svc_sp_second"))).not.toBe(secret);
    expect(existsSync(join(folder, "one"))).toBe(false);
  });

  it("that is broken or has no place is said, and never replaced by one that would not be repeated", async () => {
    await idempotencySecret(at("one"), user);
    writeFileSync(fileOf("one"), '{"secret":"short"}');
    await expect(idempotencySecret(at("one"), user)).rejects.toMatchObject({ code: "CONFIG_BROKEN" });
    expect(readFileSync(fileOf("one"), "utf8")).toBe('{"secret":"short"}');
    writeFileSync(join(folder, "file"), "");
    await expect(idempotencySecret(at("file/inside"), user)).rejects.toMatchObject({
      code: "CONFIG_UNUSABLE",
      hint: expect.stringContaining("RMM_CONFIG_DIR"),
    });
  });
});
