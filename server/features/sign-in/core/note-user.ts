import type { Call } from "#server/http/call";

/** The entry is about this user, who acts without being signed in yet. */
export function noteUser(call: Pick<Call, "audit">, user: { id: string; email: string; name: string }): void {
  call.audit.note({
    resource: { type: "user", id: user.id, name: user.name },
    actor: { type: "user", id: user.id, email: user.email },
  });
}
