/**
 * Why code may work outside the tenant scope: what it covers (tables, or all of them), and why the scoped handle cannot
 * do it. The list may only shrink; a reason that nothing gives any more is removed (`scripts/check/exits.ts`).
 */
export const systemReasons = {
  // Requests
  authenticate: {
    covers:
      "users, sessions, memberships, roles, apiKeys, servicePrincipals, partnerServicePrincipals with their keys, devices, " +
      "replacedAgentTokens, " +
      "organizations and partners above them: read; an apiKey past its end is marked",
    why: "the caller's tenant is what is being found out",
  },
  "tell of suspect agents": {
    covers:
      "rateLimits, an entry in auditOutbox, notifications of whoever may change or delete the device; organizations, users, their " +
      "memberships and rolePermissions: read",
    why: "a token that is void has no tenant, and people are out of an agent's scope",
  },
  "record refusal": {
    covers: "auditOutbox: the entries of refused calls; auditRefusals: those that are counted",
    why: "whoever was refused may have no tenant, and the call has no transaction any more",
  },
  "sign-in": {
    covers:
      "users, memberships, sessions, refreshTokens, userTokens, recoveryCodes, ssoProviders, ssoIdentities, " +
      "ssoLoginSessions, ssoExchangeCodes, ssoDomains, partnerLoginBranding, approverDevices, approverRegistrations, " +
      "assertionChallenges",
    why: "who signs in has no tenant yet; accounts, factors, devices and sessions belong to a person, not to a tenant",
  },
  "change own profile": {
    covers: "users: the caller's own row",
    why: "a person's row belongs to every tenant they work for: no tenant's connection may write it",
  },
  "accept invitation": {
    covers: "users, userTokens, memberships with the names of their tenants, and the session that begins",
    why: "the invited person has no tenant yet",
  },
  "own memberships": {
    covers:
      "the caller's user, memberships with the names of their tenants, sessions, refreshTokens, userTokens, ssoDomains, " +
      "notifications",
    why: "memberships are their person's; those of other tenants are out of the session's scope",
  },
  "invite user": {
    covers: "users and their memberships by address, grants of roles, userTokens, mailOutbox, jobs",
    why: "an address may already be a user of another tenant; its invitation is the person's",
  },
  "resolve user names": {
    covers: "id and name of users that audit entries name: read",
    why: "an entry may name a user who has left the tenant",
  },
  "enroll device": {
    covers:
      "enrollmentKeys, organizations and partners above them, devices with their inventory and replaced tokens, sites; " +
      "deviceGroupMembers and their log",
    why: "the enrollment key says which tenant the device joins",
  },
  "count against caps": {
    covers:
      "partners and organizations: their caps, number and slugs of a partner's organizations, number of devices and of an " +
      "organization's pamRules: read",
    why: "a caller confined to some organizations or sites must still meet caps and unique slugs",
  },
  "answer for another site": {
    covers: "devices, enrollmentKeys, deviceGroups, pamRules: whether one is of the caller's own organization: read",
    why: "a row of another site is answered 403, one that does not exist 404",
  },
  "keep device groups": {
    covers:
      "deviceGroups of one organization: names, places and what their conditions name: read; its devices with what " +
      "describes them: which match: read; members of one of them with their log; deviceGroupFields, deviceGroupDue",
    why: "a caller confined to sites must still meet the organization's names and limits, and whom a group holds is no matter of who asks",
  },
  "revoke access": {
    covers:
      "what the rooms' hooks take from a tenant that closes: sessions of its members, its apiKeys, keys of its " +
      "principals, tokens of its devices, its webhooks with what waits for them",
    why: "sessions belong to persons, and a deleted tenant is out of every scope",
  },
  "deliver webhooks": {
    covers:
      "webhooks, webhookDeliveries and webhookQueues of every organization, whose partner it is: read; notifications of " +
      "whoever created one, with their memberships: read",
    why: "deliveries go out when nobody is signed in",
  },
  "read audit chain": {
    covers:
      "auditAnchors and auditPrunes, and which chains there are: read; organizations and partners of the caller that were " +
      "deleted: whether there is one",
    why: "a chain is no tenant row and outlives its owner; the endpoint checks whose it is",
  },
  "measure a role": {
    covers: "rolePermissions of roles that the caller can name, and of their ancestors: read",
    why: "what a role grants belongs to no tenant; it is told of the caller's own and built-in roles, of others the difference",
  },
  "unlink identities": {
    covers: "ssoIdentities of one provider",
    why: "identities belong to people; those of a provider end with the issuer that vouched for them",
  },
  "rate limit": { covers: "rateLimits", why: "counters are keyed by credential or address" },
  idempotency: { covers: "idempotencyKeys", why: "records are keyed by caller" },
  "queue work": { covers: "jobs", why: "work outlives the request that queues it, and nobody may be signed in" },
  // The installation's own work
  bootstrap: {
    covers: "roles, rolePermissions, users",
    why: "the first administrator is made before anybody can sign in",
  },
  "count key use": {
    covers: "lastUsedAt and usageCount of apiKeys and partnerServicePrincipalKeys",
    why: "uses of all tenants' keys are gathered and written together, after their requests",
  },
  "run jobs": { covers: "jobs, mailOutbox", why: "the queue is the installation's" },
  "hand out events": {
    covers: "events, eventCursors and setAsideEvents, and what each consumer of events writes for the tenants it tells",
    why: "events of all tenants are handed out in one order",
  },
  "lead schedules": { covers: "leases", why: "leadership is between processes" },
  "purge expired": {
    covers:
      "rows past their end, of every tenant: sessions, refreshTokens, userTokens, ssoLoginSessions, ssoExchangeCodes, " +
      "deviceSourceIps, replacedAgentTokens, exportRemovals, deviceGroupLog, deviceCommands, idempotencyKeys, rateLimits, leases, jobs, mailOutbox, events, " +
      "eventCursors, setAsideEvents, webhookDeliveries, notifications, patches, devicePatches, titles of software, deviceLogs, deviceEventLogs with the organizations' settings of them; deviceMetrics, deviceMetricHours and deviceAvailability, with ids of devices read",
    why: "what has ended is nobody's any more",
  },
  "send password reset": {
    covers: "users by address, their memberships, userTokens, mailOutbox, jobs",
    why: "who forgot a password is not signed in",
  },
  "rescue account": {
    covers: "one user with factor and tokens, addresses of administrators over them, auditOutbox, mailOutbox, jobs",
    why: "whoever holds the server's host is signed in nowhere",
  },
  "work commands": {
    covers:
      "deviceCommands that end by the clock, by an agent's answer, or with their device or organization, and what the " +
      "rooms' hooks change for them",
    why: "the row that a command was queued for may belong to another tenant than the agent's connection serves",
  },
  "decide elevations": {
    covers:
      "elevationRequests, elevationAudit and toolExecutions; jobs; deviceCommands about them, apiKeys, the devices, " +
      "organizations and partners above them, elevationServerDevices, authenticatorPolicies and the caller's " +
      "approverDevices: read; notifications of whoever may approve, with users, their memberships and " +
      "rolePermissions: read",
    why: "no tenant's connection may decide: the server does, once it has judged the caller",
  },
  "set authenticator policy": {
    covers: "authenticatorPolicies of one partner",
    why: "no tenant's connection may lower what is demanded of approvals; the rule is the handler's",
  },
  "write rules of elevations": {
    covers: "pamRules, signerGroups and pamConfigs of the caller's organizations: held and written",
    why: "no tenant's connection may write what approves by itself: the server does, once it has judged the caller",
  },
  "write credentials": {
    covers:
      "apiKeys, servicePrincipals, partnerServicePrincipals with their keys and organizations, enrollmentKeys, ssoProviders, " +
      "ssoDomains and webhooks that the caller was seen to reach: held and written; partnerUserOrgs of who makes an " +
      "organization; devices that are provisioned; tokens of the calling device with replacedAgentTokens",
    why: "no tenant's connection may write what lets somebody in, or says how far: it would outlive the connection",
  },
  "move device": {
    covers:
      "a device with what describes it, the two organizations and their sites, number of devices, customFields of the " +
      "partner, deviceGroupMembers and their log, and what the rooms' hooks detach from it",
    why: "the owner of a row is fixed in the scoped handle; the two organizations were reached before",
  },
  "share patches": {
    covers: "patches: rows that devices report are made",
    why: "a patch is called the same by all tenants: its row is nobody's",
  },
  "sum up submissions": {
    covers: "deviceLogHours whose hour is over, and their entries in auditOutbox; sites of their devices: read",
    why: "an hour ends whether or not its device comes back",
  },
  "sweep devices": {
    covers:
      "status of devices and deviceAvailability, tokens of devices that are gone, devices that never came with what rooms' " +
      "hooks take from them and their entries in auditOutbox and events, of every tenant",
    why: "what time changes, it changes for all",
  },
  "recheck domains": { covers: "ssoDomains that are proven, of every tenant", why: "one look for all" },
  "write audit chain": {
    covers:
      "auditOutbox, auditLogs, auditAnchors; auditOutboxCounts, auditChain, auditPrunes and auditUnsignedPrunes read",
    why: "the writer, the anchors and the verification go through the chains of all tenants",
  },
  "evaluate device groups": {
    covers:
      "deviceGroups with members, log, deviceGroupFields and deviceGroupDue of every organization, and their events; " +
      "devices with what describes them: read; notifications of whoever created a group, with their memberships: read",
    why: "devices change when nobody is signed in",
  },
  "prune audit": { covers: "auditRetention of every organization; auditIncidents read", why: "one run for all" },
  "set audit retention": {
    covers:
      "auditRetention of one organization, notifications of whoever may read the partner's record; organizations, users, " +
      "their memberships and rolePermissions: read",
    why: "no tenant's connection may shorten what is recorded of it; the rule is the handler's",
  },
  "tell of broken chains": {
    covers:
      "auditIncidents, incidents with their events, an entry in auditOutbox, mailOutbox and jobs; addresses of platform " +
      "administrators: read; " +
      "notifications of whoever may verify the chain, with users, their memberships and rolePermissions: read",
    why: "a chain that was tampered with concerns the installation, whoever's it is",
  },
  "look for stale rules": {
    covers: "pamRules of every organization that name a risk tier: read",
    why: "one look for all, when the server starts",
  },
  "report health": {
    covers:
      "leases, jobs, auditOutbox, events, eventCursors, number of devices by status, migrations that ran: read; a lease that is written and taken back",
    why: "whoever watches the installation sees no tenant's rows",
  },
  "inspect installation": {
    covers: "users: whether there is any; number of entries in auditOutbox, auditOutboxCounts: read",
    why: "nobody can sign in yet, or the server does not run",
  },
  "export audit bundle": {
    covers: "auditOutbox, auditLogs, auditChain, auditAnchors, auditPrunes of one chain, ids of its owner: read",
    why: "for whoever holds the database itself, when no server need run; a chain is no tenant row, and the endpoint checks whose it is",
  },
} as const satisfies Record<string, { readonly covers: string; readonly why: string }>;

export type SystemReason = keyof typeof systemReasons;
