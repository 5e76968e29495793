import { afterEach, describe, expect, it, vi } from "vitest";
import { bound, timezone } from "./fields.ts";

describe("bound", () => {
  afterEach(() => vi.unstubAllEnvs());

  it("reads a day as its first or last millisecond and an instant in any offset", () => {
    expect(bound("from").parse("2026-03-31")).toBe("2026-03-31T00:00:00.000Z");
    expect(bound("to").parse("2026-03-31")).toBe("2026-03-31T23:59:59.999Z");
    for (const text of ["2026-03-31T10:00:00+02:00", "2026-03-31T10:00:00 02:00", "2026-03-31T10:00+0200"])
      expect(bound("to").parse(text)).toBe("2026-03-31T08:00:00.000Z");
  });

  it("reads a time without an offset as UTC, wherever the server stands", () => {
    vi.stubEnv("TZ", "America/Denver");
    expect(bound("from").parse("2026-03-31T10:00:00")).toBe("2026-03-31T10:00:00.000Z");
    expect(bound("to").parse("2026-03-31T10:00")).toBe("2026-03-31T10:00:00.000Z");
  });

  it("refuses what is no date", () => {
    for (const text of ["2026-02-30", "yesterday", "2026-03-31T", "2026-03-31T25:00", "20260331"])
      expect(bound("from").safeParse(text).success, text).toBe(false);
  });
});

describe("timezone", () => {
  it("takes IANA names, not offsets", () => {
    for (const name of ["UTC", "America/Denver", "Asia/Kathmandu"])
      expect(timezone().safeParse(name).success).toBe(true);
    for (const name of ["", "+02:00", "-07:00", "Mars/Olympus"]) expect(timezone().safeParse(name).success).toBe(false);
  });

  it("says which zone may have been meant: by its spelling, or by its place alone", () => {
    const said = (name: string) => timezone().safeParse(name).error?.issues[0]?.message;
    expect(said("Europe/Berln")).toBe("must be an IANA time zone (did you mean Europe/Berlin?)");
    expect(said("Berln")).toBe("must be an IANA time zone (did you mean Europe/Berlin?)");
    expect(said("Eurpe/Berlin")).toBe("must be an IANA time zone (did you mean Europe/Berlin?)");
    expect(said("Mars/Base")).toBe("must be an IANA time zone");
    expect(said("new york")).toBe("must be an IANA time zone (did you mean America/New_York?)");
    expect(said("UCT")).toBe(undefined);
    expect(said("Atlantis/Poseidonis")).toBe("must be an IANA time zone");
    expect(said("z".repeat(9_000))).toBe("Too big: expected string to have <=50 characters");
  });
});
