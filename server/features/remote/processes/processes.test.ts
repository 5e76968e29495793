import { expect, it } from "vitest";
import { ReportedProcess, ReportedProcesses } from "./reported.ts";

it("a process is what has a number and a name; any other part that is malformed is unknown", () => {
  const sent = {
    pid: 7,
    name: "a\u202eb",
    cpuPercent: "much",
    status: "dreaming",
    startTime: "yesterday",
    threads: -1,
  };
  expect(ReportedProcess.parse(sent)).toEqual({
    pid: 7,
    name: "a\ufffdb",
    cpuPercent: null,
    memoryMb: null,
    user: null,
    status: null,
    startTime: null,
    commandLine: null,
    parentPid: null,
    threads: null,
  });
  expect(ReportedProcess.safeParse({ name: "no number" }).success).toBe(false);
});

it("the list of an agent is bare or under its name", () => {
  const one = { pid: 1, name: "init" };
  for (const sent of [[one], { processes: [one] }]) expect(ReportedProcesses.parse(sent)).toHaveLength(1);
  expect(ReportedProcesses.safeParse({ items: [one] }).success).toBe(false);
});
