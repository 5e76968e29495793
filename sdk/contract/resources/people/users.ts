import { z } from "zod";
import { open, staff } from "../../core/access.ts";
import { isVisible } from "../../core/characters.ts";
import { create, get, type Noun, patch, post, resource, shape } from "../../core/endpoint.ts";
import {
  email,
  type FieldMeta,
  freeObject,
  instant,
  ref,
  searchText,
  secret,
  success,
  text,
} from "../../core/fields.ts";
import { paged, pageOf, pageQuery } from "../../core/page.ts";
import { passwordRule } from "../../core/password-rule.ts";
import { newPassword } from "../sign-in/passwords.ts";
import { handedOutToken, SecondFactorNeeded, SignedIn } from "../sign-in/sessions.ts";
import { listOfRoles, target, targetErrors } from "./roles.ts";

export const userStatuses = ["invited", "active", "disabled"] as const;
export const orgAccessLevels = ["all", "selected", "none"] as const;

/** A person's account (docs/people.md, "Accounts"). */
export const User = shape("User", () =>
  z.object({
    id: z.string(),
    email: z.string(),
    name: z.string(),
    avatarUrl: z.string().nullable(),
    status: z.enum(userStatuses),
    mfaEnabled: z.boolean(),
    mfaMethod: z.literal("totp").nullable(),
    isPlatformAdmin: z.boolean(),
    lastLoginAt: instant().nullable(),
    passwordChangedAt: instant().nullable(),
    emailVerifiedAt: instant().nullable(),
    preferences: z.record(z.string(), z.unknown()),
    createdAt: instant(),
    updatedAt: instant(),
  }),
);

/** The caller's account with what its membership allows (docs/people.md, "Own account"). */
export const Me = shape("Me", () =>
  z.object({
    ...User().shape,
    scope: z.enum(["organization", "partner", "system"]),
    partnerId: z.string().nullable(),
    orgId: z.string().nullable(),
    roleId: z.string().nullable(),
    roleName: z.string().nullable(),
    permissions: z.array(z.string()),
    orgAccess: z.enum(orgAccessLevels).nullable(),
    orgIds: z.array(z.string()).nullable(),
    siteIds: z.array(z.string()).nullable(),
    mfaSatisfied: z.boolean(),
  }),
);

/** A user as member of one tenant. */
export const Member = shape("Member", () =>
  z.object({
    id: z.string(),
    email: z.string(),
    name: z.string(),
    status: z.enum(userStatuses),
    lastLoginAt: instant().nullable(),
    mfaEnabled: z.boolean(),
    roleId: z.string().nullable(),
    roleName: z.string().nullable(),
    orgAccess: z.enum(orgAccessLevels).optional().describe("only for members of a partner"),
    orgIds: z.array(z.string()).optional().describe("only for members of a partner"),
    siteIds: z.array(z.string()).nullable().optional().describe("members of an organization; null: all sites"),
    createdAt: instant(),
    updatedAt: instant(),
  }),
);

const inviteUrl = () => secret(z.string()).nullable().describe("only when mail is not configured");

const mailedToken = () => handedOutToken().describe("token of the mailed link");
const acceptedPassword = () => newPassword().describe(`the account's own, else a first one: ${passwordRule}`);

const httpsUrl = () =>
  z
    .url({ protocol: /^https$/, hostname: z.regexes.domain })
    .max(2048)
    .refine(isVisible, "must hold nothing that nobody can see");

const about: Noun = {
  name: "users",
  summary: "People who sign in, and their invitations",
  thing: "user",
  kinds: { user: { names: ["email", "name"], label: "name", example: "ana@contoso.example" } },
  audits: ["user.profile.update", "user.invite", "user.invite.resend", "user.invite.accepted"],
};

export const users = resource(about, {
  me: get("/users/me", {
    summary: "Show who you are and what you may do",
    access: staff().exemptFrom("partnerGuard", "mfaEnrollment"),
    returns: Me,
  }),
  updateMe: patch("/users/me", {
    summary: "Change your own profile",
    access: staff().exemptFrom("partnerGuard"),
    audit: "user.profile.update",
    errors: ["NO_UPDATES", "HOME_SESSION_REQUIRED"],
    body: () =>
      z
        .strictObject({
          name: text(255).describe("your name as others see it"),
          avatarUrl: httpsUrl().nullable().describe("address of your picture"),
          preferences: freeObject(64 * 1024).meta({
            description: "merged into the stored preferences",
            example: { theme: "dark" },
          } satisfies FieldMeta),
        })
        .partial(),
    returns: Me,
  }),
  list: get("/users", {
    summary: "List users of your tenant, by name",
    access: staff().needs("users:read"),
    errors: targetErrors,
    paging: paged,
    columns: ["email", "name", "status", "roleName", "orgAccess", "lastLoginAt", "id"],
    query: () =>
      z.object({
        ...pageQuery(),
        ...target(),
        status: z.enum(userStatuses).optional().describe("only those in this status"),
        search: searchText().optional().describe("part of name or email"),
      }),
    returns: () => pageOf(Member()),
  }),
  roles: get("/users/roles", { summary: "List the roles you can give to users of your tenant", ...listOfRoles }),
  get: get("/users/:id", {
    summary: "Show a user of your tenant",
    access: staff().needs("users:read"),
    errors: ["NOT_FOUND", ...targetErrors],
    query: () => z.object(target()),
    returns: Member,
  }),
  invite: create("/users/invite", {
    summary: "Invite a user",
    description: "Nobody becomes a member before they accept. Until then `id` is the invitation's.",
    access: staff().needs("users:invite").withMfa(),
    emits: ["user.invited"],
    audit: "user.invite",
    errors: [
      ...targetErrors,
      "INVALID_ROLE",
      "ORG_IDS_REQUIRED",
      "ORG_IDS_NOT_ALLOWED",
      "SITE_NOT_IN_ORG",
      "SITE_ACCESS_DENIED",
      "ROLE_EXCEEDS_CALLER",
      "USER_EXISTS",
      "ORG_READ_ONLY",
    ],
    body: () =>
      z.object({
        ...target(),
        email: email().describe("whom the invitation is sent to"),
        name: text(255).meta({ description: "name of the person", example: "Ana Ruiz" } satisfies FieldMeta),
        roleId: ref("role").describe("role of the new member"),
        orgAccess: z.enum(orgAccessLevels).optional().describe("only for members of a partner"),
        orgIds: z.array(ref("organization")).max(10_000).optional().describe("required with orgAccess `selected`"),
        siteIds: z
          .array(ref("site"))
          .max(10_000)
          .nullable()
          .optional()
          .describe("members of an organization; null: all sites"),
      }),
    returns: () =>
      z.object({
        id: z.string(),
        email: z.string(),
        name: z.string(),
        status: z.enum(userStatuses),
        roleId: z.string(),
        inviteEmailSent: z.boolean(),
        inviteUrl: inviteUrl(),
      }),
  }),
  resendInvite: post("/users/resend-invite", {
    summary: "Send an invitation again; the old link stops",
    access: staff().needs("users:invite").withMfa(),
    audit: "user.invite.resend",
    loses: "nothing",
    idempotent: true,
    errors: [...targetErrors, "NOT_FOUND", "NOT_INVITED", "ROLE_EXCEEDS_CALLER", "SITE_ACCESS_DENIED"],
    body: () => z.object({ ...target(), userId: ref("user").describe("whose invitation it is") }),
    returns: () => z.object({ ...success().shape, inviteEmailSent: z.boolean(), inviteUrl: inviteUrl() }),
  }),
  previewInvite: post("/auth/invite/preview", {
    summary: "Show whom an invitation is for",
    access: open(),
    audit: { none: "reads only" },
    loses: "nothing",
    errors: ["INVALID_INVITE", "INVITE_ALREADY_ACCEPTED"],
    body: () => z.object({ token: mailedToken() }),
    returns: () =>
      z.object({
        email: z.string(),
        name: z.string(),
        partnerName: z.string().optional(),
        orgName: z.string().optional(),
      }),
  }),
  acceptInvite: post("/auth/accept-invite", {
    summary: "Accept an invitation and sign in",
    description: "Sets the first password. An account that has one is signed in with it, and keeps it.",
    access: open(),
    mayEmit: ["user.login"],
    audit: "user.invite.accepted",
    loses: "nothing",
    errors: ["INVALID_INVITE", "WEAK_PASSWORD", "SSO_REQUIRED", "INVALID_CREDENTIALS"],
    body: () =>
      z.object({
        token: mailedToken(),
        password: acceptedPassword(),
        name: text(255).optional().describe("your name, where the invitation has another"),
      }),
    returns: () => z.discriminatedUnion("mfaRequired", [SignedIn(), SecondFactorNeeded()]),
  }),
});
