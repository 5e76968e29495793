import { describe, expect, it } from "vitest";
import { migrations } from "#server/generated/migrations";
import { checksumOf, judgeMigrations, landedChecksums } from "./migration-checksums.ts";
import { migrationNames, misnamedMigrations, newStamp } from "./migrations.ts";

const change = (name: string, text = `create table ${name}`) => ({ name, statements: () => [text] });
const landed = { first: checksumOf(change("first")), second: checksumOf(change("second")) };

describe("migrations that have landed", () => {
  it("are what they were when they landed, every one of them", () => {
    expect(judgeMigrations(landedChecksums(), migrations).faults).toEqual([]);
    expect(Object.keys(landedChecksums())).toEqual(migrationNames());
    expect(migrations.map(({ name }) => name)).toEqual(migrationNames());
  });

  it("cannot be edited: the checksum stays, and a message says what to do", () => {
    const { checksums, faults } = judgeMigrations(landed, [change("first", "drop table first"), change("second")]);
    expect(faults).toEqual([
      expect.stringMatching(/^migration first has landed and was edited: .* write a new migration/),
    ]);
    expect(checksums).toEqual(landed);
  });

  it("cannot be edited for one of the databases alone", () => {
    const one = {
      name: "first",
      statements: (dialect: string) => (dialect === "sqlite" ? ["x"] : change("first").statements()),
    };
    expect(judgeMigrations(landed, [one, change("second")]).faults).toHaveLength(1);
  });

  it("cannot be removed", () => {
    expect(judgeMigrations(landed, [change("second")]).faults).toEqual([
      expect.stringContaining("migration first has landed and its file is gone"),
    ]);
  });

  it("may be followed, but not preceded, by new ones, whose checksums are added", () => {
    const both = [change("first"), change("second")];
    const { checksums, faults } = judgeMigrations(landed, [...both, change("third")]);
    expect(faults).toEqual([]);
    expect(checksums).toEqual({ ...landed, third: checksumOf(change("third")) });
    expect(judgeMigrations(landed, [change("early"), ...both]).faults).toEqual([
      expect.stringContaining("migration early is new and would run before second"),
    ]);
  });
});

it("migrations are named by time, area and what they do", () => {
  expect(misnamedMigrations()).toEqual([]);
  expect(
    misnamedMigrations(["0011-session-tenant", "202612241759-fleet-tags", "202701010000-sign-in-passkeys"]),
  ).toEqual([]);
  const wrong = [
    "0012-next",
    "20261224-fleet-tags",
    "202613241759-fleet-tags",
    "202612241759-nowhere-tags",
    "202612241759-fleet",
  ];
  expect(misnamedMigrations(wrong)).toHaveLength(wrong.length);
});

it("a new migration is named after now, and after what is there", () => {
  const now = new Date("2026-12-24T17:59:30Z");
  expect(newStamp(now, ["0011-session-tenant"])).toBe("202612241759");
  expect(newStamp(now, ["0011-session-tenant", "202612240000-fleet-tags"])).toBe("202612241759");
  expect(newStamp(now, ["202612312359-fleet-tags", "202612240000-fleet-tags"])).toBe("202701010000");
});
