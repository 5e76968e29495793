import { z } from "zod";
import { staff } from "../../core/access.ts";
import { del, get, type Noun, patch, resource, shape } from "../../core/endpoint.ts";
import { flag, instant, ref, success } from "../../core/fields.ts";
import { paged, pageOf, pageQuery } from "../../core/page.ts";

export const notificationTypes = [
  "alert",
  "device",
  "script",
  "automation",
  "system",
  "user",
  "security",
  "ticket",
] as const;

/** From the least to the most urgent. */
export const notificationPriorities = ["low", "normal", "high", "urgent"] as const;

/** What a person is told in a tenant (docs/people.md, "Notifications"). */
const Notification = shape("Notification", () =>
  z.object({
    id: z.string(),
    userId: z.string(),
    partnerId: z.string().nullable(),
    orgId: z.string().nullable().describe("null: about the partner itself, or about the installation"),
    type: z.enum(notificationTypes),
    priority: z.enum(notificationPriorities),
    title: z.string(),
    message: z.string(),
    link: z.string().nullable().describe("path below the application's address"),
    metadata: z.record(z.string(), z.unknown()),
    read: z.boolean(),
    readAt: instant().nullable(),
    createdAt: instant(),
    updatedAt: instant(),
  }),
);

const unaudited = { none: "a person's own notifications; nobody else's data changes" } as const;

const about: Noun = {
  name: "notifications",
  summary: "What you are told of",
  thing: "notification",
  kinds: { notification: { label: "title" } },
  audits: [],
};

export const notifications = resource(about, {
  list: get("/notifications", {
    summary: "List your notifications in this tenant, the newest first",
    access: staff(),
    errors: ["ORG_ACCESS_DENIED"],
    paging: paged,
    columns: ["title", "message", "createdAt", "priority", "read", "type", "id"],
    query: () =>
      z.object({
        ...pageQuery(),
        unreadOnly: flag().optional().describe("leave out what was read"),
        type: z.enum(notificationTypes).optional().describe("what it is about"),
        orgId: ref("organization").optional().describe("only those about this organization"),
      }),
    returns: () =>
      pageOf(Notification()).extend({ unreadCount: z.int().describe("all that are unread, whatever is listed") }),
  }),
  unreadCount: get("/notifications/unread-count", {
    summary: "Count your unread notifications in this tenant",
    access: staff(),
    returns: () => z.object({ count: z.int() }),
  }),
  read: patch("/notifications/:id", {
    summary: "Mark a notification as read",
    access: staff(),
    audit: unaudited,
    errors: ["NOT_FOUND"],
    bodyOptional: true,
    body: () => z.strictObject({ read: z.boolean().optional().describe("false marks it as unread") }),
    returns: Notification,
  }),
  remove: del("/notifications/:id", {
    summary: "Delete a notification",
    access: staff(),
    audit: unaudited,
    errors: ["NOT_FOUND"],
    returns: success,
  }),
  clear: del("/notifications", {
    summary: "Delete all your notifications in this tenant",
    access: staff(),
    audit: unaudited,
    returns: () => z.object({ success: z.literal(true), deleted: z.int() }),
  }),
});
