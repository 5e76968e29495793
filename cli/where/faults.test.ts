import fc from "fast-check";
import stringWidth from "string-width";
import { describe, expect, it } from "vitest";
import { filterCaps } from "#contract/core/filters/condition";
import { escapeControls } from "../output/escape.ts";
import { excerptOf } from "./excerpt.ts";
import { WhereFault } from "./fault.ts";
import { parseWhere } from "./parse.ts";
import { fieldOf, nearFields } from "./words.ts";

function faultOf(source: string): WhereFault {
  try {
    parseWhere(source);
  } catch (error) {
    if (error instanceof WhereFault) return error;
    throw error;
  }
  throw new Error(`no fault in ${source.slice(0, 80)}`);
}

/** What is pointed at, and what is said. */
const pointed = (source: string): [at: string, message: string, hint: string | undefined] => {
  const { at, message, hint } = faultOf(source);
  return [source.slice(at.start, at.end), message, hint];
};

describe("a fault points at what is wrong and proposes what is right", () => {
  it.each([
    ["ostype = windows", "ostype", "did you mean osType?"],
    ["cpuModel contains i7", "cpuModel", "did you mean hardware.cpuModel"],
    ["organization = x", "organization", "did you mean orgId?"],
    ["site = HQ", "site", "did you mean siteId?"],
    ["Group = Tills", "Group", "did you mean groupId?"],
    ["os = linux", "os", "did you mean osType?"],
    ["name = till-1", "name", "did you mean hostname or displayName?"],
    ["custom.Rack = 1", "custom.Rack", "no key of a custom field"],
    ["osType equal windows", "equal", "did you mean =?"],
    ["hostname starts wit a", "starts", "did you mean starts with"],
    ["hostname like srv", "like", "did you mean contains?"],
    ["lastSeenAt > 2026-01-01", ">", "did you mean after?"],
    ["tags = prod", "=", "did you mean any?"],
    ["status = offlin", "offlin", "did you mean offline?"],
    ["lastSeenAt within 7 dys", "dys", "did you mean days?"],
    ["status = online adn osType = linux", "adn", "did you mean and?"],
  ])("%s", (source, at, proposal) => {
    const [place, message] = pointed(source);
    expect([place, message]).toEqual([at, expect.stringContaining(proposal)]);
  });

  it("proposes fields that there are", () => {
    const words = ["organization", "customer", "site", "group", "os", "name", "tag", "role", "ip", "mac", "serial"];
    for (const word of words) {
      expect(nearFields(word), word).not.toEqual([]);
      for (const name of nearFields(word)) expect(fieldOf(name), name).toBeDefined();
    }
  });

  it("takes a second word for a part of the value where it joins nothing", () => {
    expect(pointed("hostname = mac os")).toEqual([
      "os",
      expect.not.stringContaining("mean"),
      expect.stringContaining("'mac os'"),
    ]);
    expect(pointed("status in online, offline")[2]).toBe("status in [online, …]");
  });

  it("says which values a field has, and which operators it takes", () => {
    expect(pointed("osType = beos")).toEqual(["beos", expect.any(String), "Values: windows, macos, linux"]);
    expect(pointed("groupId > 1")).toEqual([">", "groupId takes no >", "groupId takes =, in"]);
    expect(pointed("hostname")).toEqual(["", "hostname lacks an operator", expect.stringContaining("starts with")]);
  });

  it.each([
    ["", ""],
    ["status = offline and", ""],
    ["status = ", ""],
    ["hostname = and status = online", "and"],
    ["not status = online", "not"],
    ["status = online && osType = linux", "&&"],
    ["hostname = my server", "server"],
    ["hostname = O'Brien'", "'"],
    ["hostname = “srv”", "“"],
    ["hostname = 'srv", "'"],
    ['hostname = "a\\d"', "\\d"],
    ["hostname = a\u200bb", "a\u200bb"],
    ["(status = online", "("],
    ["status = online)", ")"],
    ["(or status = online or status = offline)", "or"],
    ["tags any prod", "prod"],
    ["tags any [a b]", "b"],
    ["tags any [a, b", "["],
    ["tags all []", "["],
    ["status not in []", "["],
    ["status in 'online'", "'online'"],
    ["hostname = [a]", "["],
    ["hardware.cpuCores > many", "many"],
    ["hardware.ramTotalMb >= 16GB", "16GB"],
    ["hardware.cpuCores between 8 and 4", "8"],
    ["hardware.cpuCores between 8 or 4", "or"],
    ["isHeadless = maybe", "maybe"],
    ["lastSeenAt before yesterday", "yesterday"],
    ["lastSeenAt within 0 days", "0"],
    ["lastSeenAt within 7d", "7d"],
    ["status ! = online", "!"],
  ])("%j is refused at %j", (source, at) => {
    const [place, message] = pointed(source);
    expect(place).toBe(at);
    expect(message.length).toBeGreaterThan(10);
  });
});

describe("the line with carets", () => {
  const under = (source: string, width = 78) => {
    const { at } = faultOf(source);
    return excerptOf(source, at, width);
  };

  it("stands below the word", () => {
    expect(under("osType = windwos and status = online")).toEqual([
      "osType = windwos and status = online",
      "         ^^^^^^^",
    ]);
  });

  it("counts wide characters twice, combined ones once, and escapes as long as they are shown", () => {
    expect(under("hostname = '日本' and nope = 1")).toEqual([
      "hostname = '日本' and nope = 1",
      `${" ".repeat(22)}^^^^`,
    ]);
    expect(under("status =\t漢字")).toEqual(["status =\\t漢字", "          ^^^^"]);
    expect(under("hostname = 'e\u0301' and nope = 1")[1]).toBe(`${" ".repeat(19)}^^^^`);
  });

  it("shows the line in which it is", () => {
    expect(under("status = online\n  and nope = 1\n  and osType = linux")).toEqual(["  and nope = 1", "      ^^^^"]);
  });

  it.each([20, 40, 78])("of a long line has what is around the word, in %i columns", (width) => {
    const many = Array.from({ length: 40 }, (_, at) => `hostname contains '漢${at}'`).join(" or ");
    for (const source of [`nope = 1 or ${many}`, `${many} or nope = 1`, `${many} or nope = 1 or ${many}`]) {
      const [line, carets] = under(source, width);
      expect(stringWidth(line)).toBeLessThanOrEqual(width);
      expect(stringWidth(carets)).toBeLessThanOrEqual(width);
      const start = carets.indexOf("^");
      const left = line.slice(0, line.indexOf("nope"));
      expect([stringWidth(left), carets.slice(start)]).toEqual([start, "^^^^"]);
    }
  });

  it("cuts a word that is longer than the line", () => {
    const [line, carets] = under(`${"x".repeat(100_000)} = 1`, 40);
    expect([line, carets]).toEqual([expect.stringMatching(/^x{19}… =/), "^".repeat(20)]);
  });
});

it("anything that is typed is read or refused with a place in it, and its line fits", () => {
  const words = fc.constantFrom(
    "status",
    "=",
    "(",
    ")",
    "and",
    "or",
    "[",
    "'",
    '"',
    "\\",
    " ",
    "in",
    "within",
    "7",
    "日",
    "\n",
  );
  const typed = fc.array(fc.oneof({ weight: 3, arbitrary: words }, fc.string({ unit: "binary", maxLength: 5 })), {
    maxLength: 40,
  });
  fc.assert(
    fc.property(typed, fc.integer({ min: 20, max: 100 }), (parts, width) => {
      const source = parts.join("");
      try {
        parseWhere(source);
      } catch (error) {
        if (!(error instanceof WhereFault)) throw error;
        const { start, end } = error.at;
        expect(start >= 0 && start <= end && end <= source.length).toBe(true);
        for (const line of excerptOf(source, error.at, width)) {
          expect(stringWidth(line)).toBeLessThanOrEqual(width);
          expect(line).toBe(escapeControls(line));
        }
      }
    }),
    { numRuns: 2_000 },
  );
});

describe("input of any size", () => {
  it("is refused beyond the caps of a filter", () => {
    const condition = "status = online";
    const many = (count: number) => Array.from({ length: count }, () => condition).join(" and ");
    expect(parseWhere(many(filterCaps.conditions)).filter.conditions).toHaveLength(filterCaps.conditions);
    expect(faultOf(many(filterCaps.conditions + 1)).message).toContain("at most 1000 conditions");
    const list = (count: number) => `tags any [${Array.from({ length: count }, () => "a").join(", ")}]`;
    expect(parseWhere(list(filterCaps.listValues)).filter.conditions).toHaveLength(1);
    expect(faultOf(list(filterCaps.listValues + 1)).message).toContain("at most 500 values");
    expect(faultOf(Array.from({ length: 11 }, () => list(500)).join(" or ")).message).toContain("5000 values together");
    expect(faultOf(`hostname = ${"x".repeat(1_001)}`).message).toContain("at most 1000 characters");
    expect(faultOf(`hostname matches ${"x".repeat(251)}`).message).toContain("at most 250 characters");
  });

  it("nested however deep is refused where it is too deep, never by the stack", () => {
    const nested = (depth: number) => `${"(".repeat(depth)}status = online${")".repeat(depth)}`;
    expect(parseWhere(nested(filterCaps.depth)).filter.conditions).toHaveLength(1);
    for (const depth of [filterCaps.depth + 1, 1_000_000]) {
      const { at, message } = faultOf(nested(depth));
      expect([at.start, message]).toEqual([filterCaps.depth, expect.stringContaining("64 deep")]);
    }
    // Without a word in front each level is two groups: one of `and` in one of `or`.
    const mixed = (depth: number): string =>
      depth === 0 ? "status = online" : `status = offline and (${mixed(depth - 1)}) or osType = linux`;
    expect(parseWhere(mixed(31)).filter.operator).toBe("OR");
    expect(faultOf(mixed(40)).message).toContain("64 deep");
  });

  it.each([
    ["conditions", (size: number) => Array.from({ length: size }, (_, at) => `hostname = pc-${at}`).join(" or ")],
    ["quotes", (size: number) => `hostname contains '${"''".repeat(size / 2)}'`],
    ["escapes", (size: number) => `hostname contains "${"\\n".repeat(size)}"`],
    ["a text without an end", (size: number) => `hostname = '${"''".repeat(size)}`],
    ["parentheses", (size: number) => "(".repeat(size)],
  ])("takes twice the work for twice as many %s", (_what, made) => {
    const stepsFor = (size: number) => {
      const effort = { steps: 0 };
      try {
        parseWhere(made(size), effort);
      } catch (error) {
        if (!(error instanceof WhereFault)) throw error;
      }
      return effort.steps;
    };
    const [once, twice] = [stepsFor(400), stepsFor(800)];
    expect(once).toBeGreaterThan(0);
    expect(twice / once).toBeLessThan(2.2);
    expect(twice).toBeLessThan(made(800).length * 4);
  });
});
