import type { SchemaChange } from "../schema-change.ts";
import { foundation } from "./0001-foundation.ts";
import { tenancy } from "./0002-tenancy.ts";
import { identity } from "./0003-identity.ts";
import { devices } from "./0004-devices.ts";
import { audit } from "./0005-audit.ts";
import { platform } from "./0006-platform.ts";
import { servicePrincipals } from "./0007-service-principals.ts";
import { partnerPrincipals } from "./0008-partner-principals.ts";
import { sso } from "./0009-sso.ts";
import { keyIssuedAt } from "./0010-key-issued-at.ts";
import { sessionTenant } from "./0011-session-tenant.ts";
import { migration as idempotencyProcess } from "./202611281100-platform-idempotency-process.ts";
import { migration as exportChanges } from "./202611281120-credentials-export-changes.ts";
import { migration as auditRefusals } from "./202611281121-audit-refusals.ts";
import { migration as principalRateLimit } from "./202611281122-credentials-principal-rate-limit.ts";

/** In order. A released migration is never edited; a change is a new file. */
export const migrations: readonly SchemaChange[] = [
  foundation,
  tenancy,
  identity,
  devices,
  audit,
  platform,
  servicePrincipals,
  partnerPrincipals,
  sso,
  keyIssuedAt,
  sessionTenant,
  idempotencyProcess,
  exportChanges,
  auditRefusals,
  principalRateLimit,
];
