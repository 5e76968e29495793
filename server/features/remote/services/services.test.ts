import { expect, it } from "vitest";
import { ReportedService } from "./reported.ts";

const read = (sent: object) => ReportedService.parse({ name: "x", ...sent });

it.each([
  ["StartPending", "starting"],
  ["Running", "running"],
  ["inactive", "stopped"],
  ["on fire", null],
])("status %s reads %s", (sent, status) => {
  expect(read({ status: sent }).status).toBe(status);
});

it.each([
  ["Automatic (Delayed)", "auto_delayed"],
  ["auto_delayed", "auto_delayed"],
  ["Automatic", "auto"],
  ["masked", "disabled"],
  [7, null],
])("start type %s reads %s", (sent, startType) => {
  expect(read({ startType: sent }).startType).toBe(startType);
});
