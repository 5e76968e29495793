import { expect, it } from "vitest";
import { build } from "./specification/build.ts";
import { cataloguesOf } from "./specification/catalogues.ts";
import type { Document, Listed } from "./specification/documents.ts";
import { factsOf } from "./specification/facts.ts";
import { marksOf } from "./specification/marks.ts";
import { segmentsOf } from "./specification/segments.ts";

const contract = (number: number, text: string): Document => ({ kind: "contract", number, lines: text.split("\n") });
const listed = (...endpoints: string[]): Listed[] =>
  endpoints.map((endpoint) => {
    const [method, path] = endpoint.split(" ") as [string, string];
    return { method, path, kind: "specification" };
  });

const texts = [
  contract(
    1,
    [
      "### A4 Permissions",
      "Built in: System Admin (`isPlatformAdmin`).",
      "| Resource | Actions | Keeper | Reader |",
      "|---|---|---|---|",
      "| devices | read, write, execute | all | r |",
      "| sites | read, write | r w | – |",
      "### A5 Error codes",
      "| 400 | VALIDATION_ERROR the joined messages · UNSAFE_URL · no-name A name is required |",
      "| 409 | IN_USE · NAME_TAKEN, SLUG_TAKEN Taken · INVALID_STATE Not now |",
      "| 404 | NOT_FOUND |",
      "| item | LATE Too late |",
    ].join("\n"),
  ),
  contract(3, "### 11.2 Kinds\ndevice.{enrolled,moved} · site.created (`data` holds ids)."),
  contract(4, "### 8.4 Audit actions\n| site.{CUD,close} · device.move | | O |\n| script.{tag.CUD} | | O |"),
];

it("reads the closed lists", () => {
  expect(cataloguesOf(texts)).toEqual({
    permissions: ["devices:read", "devices:write", "devices:execute", "sites:read", "sites:write"],
    roles: {
      Keeper: ["devices:read", "devices:write", "devices:execute", "sites:read", "sites:write"],
      Reader: ["devices:read"],
      "System Admin": ["*:*"],
    },
    errors: {
      VALIDATION_ERROR: { status: 400, message: null },
      UNSAFE_URL: { status: 400, message: "Unsafe URL" },
      "no-name": { status: 400, message: "A name is required" },
      IN_USE: { status: 409, message: "In use" },
      NAME_TAKEN: { status: 409, message: "Taken" },
      SLUG_TAKEN: { status: 409, message: "Taken" },
      INVALID_STATE: { status: 409, message: "Not now" },
      NOT_FOUND: { status: 404, message: "Not found" },
      LATE: { status: 200, message: "Too late" },
    },
    auditActions: [
      ...["site.create", "site.update", "site.delete", "site.close", "device.move"],
      ...["script.tag.create", "script.tag.update", "script.tag.delete"],
    ],
    eventKinds: ["device.enrolled", "device.moved", "site.created"],
  });
});

it("finds definitions, not mentions, and shares what is said of several", () => {
  const endpoints = listed("GET /sites", "POST /sites", "DELETE /sites/:id", "GET /tags", "GET /search");
  const found = segmentsOf(
    [
      contract(
        1,
        [
          "- `GET /sites`, `POST /sites` — sites:write, M; ends as `GET /tags` does. ➕ `DELETE /sites/:id` — same",
          "  goes on",
          "As `GET /search` says; see ➕ `GET /tags` (public).",
          "- `GET /search`: contract 9",
        ].join("\n"),
      ),
    ],
    endpoints,
  );
  const shared = " — sites:write, M; ends as `GET /tags` does.";
  expect(found).toEqual([
    { endpoint: "GET /sites", text: shared, mixed: true, document: 1 },
    { endpoint: "POST /sites", text: shared, mixed: true, document: 1 },
    { endpoint: "DELETE /sites/:id", text: " — same\n  goes on", mixed: false, document: 1 },
    { endpoint: "GET /tags", text: " (public).", mixed: false, document: 1 },
  ]);
});

it.each([
  [1, " — P,S, organizations:write, W, M → 201", "partner+system organizations:write M W"],
  [1, " — users:write and users:delete, M; an item", "users:write+users:delete M"],
  [1, " — public · `{token}`", "public"],
  [2, " — P devices:execute!, W · B `{}`", "devices:execute M W"],
  [2, " — P devices:write · R row", "devices:write"],
  [2, " — MFA · B `{}`", "M"],
  [2, " — Q status · R Page", undefined],
  [3, " — U · `devices:read` · query", "user devices:read"],
  [3, " — A. Body", "agent"],
  [4, " — [U PS tickets:write M W] `{name}`", "user partner+system tickets:write M W"],
  [4, " [SP sites:write] `{orgId}`", "partnerKey key sites:write"],
  [4, " `{ids}` (invoices:write) drafts", "invoices:write"],
  [4, " — [PS billing:manage, PUT M] · `{}`", "partner+system billing:manage unread PUT M"],
] as const)("reads the marks of document %i: %s", (document, text, wanted) => {
  const marks = marksOf(document, text);
  if (marks === undefined || marks === "same") return expect(marks).toBe(wanted);
  const { kinds = [], scopes = [], permissions, keyScopes, mfa, fullPartner, unread } = marks;
  const words = [kinds.join("+"), scopes.join("+"), permissions.join("+"), keyScopes.length > 0 ? "key" : ""];
  const flags = [keyScopes.join("+"), mfa ? "M" : "", fullPartner ? "W" : "", unread && `unread ${unread}`];
  expect([...words, ...flags].filter((word) => word !== "").join(" ")).toBe(wanted);
});

it("takes codes, actions and events from the words, not from the shapes of bodies", () => {
  const text =
    "`{failed:[{code:NAME_TAKEN}]}` · 409 `IN_USE {siteIds}`; 400 `no-name|UNSAFE_URL`; 404 · audit site.create|close · event site.created.";
  expect(factsOf(text, cataloguesOf(texts))).toEqual({
    errors: ["IN_USE", "NOT_FOUND", "UNSAFE_URL", "no-name"],
    audit: ["site.create", "site.close"],
    events: ["site.created"],
  });
  expect(factsOf("E 409 terminal", cataloguesOf(texts)).errors).toEqual(["INVALID_STATE"]);
});

it("writes nothing while a reading has lost its text or an endpoint its definition", () => {
  const { faults } = build({ texts, endpoints: listed("GET /orgs/sites"), conventions: [] });
  expect(faults).toContain("GET /orgs/sites is defined nowhere");
  expect(faults.some((fault) => fault.includes('the documents no longer say "All: [U PS, mutations M + W]'))).toBe(
    true,
  );
  expect(faults).toContain("sites: the table of nouns counts 0+0 endpoints, the patterns 1+0");
});
