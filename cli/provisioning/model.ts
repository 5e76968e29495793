/** What a provisioning file says. An absent field keeps what the server has, `null` clears it. */
export interface ProvisioningModel {
  /** Slug, name or id; needed by callers of system scope. */
  readonly partner: string | undefined;
  readonly newSites?: NewSites;
  readonly organizations: readonly FileOrganization[];
}

/** Where an object stands in the file. */
export interface Located {
  /** 1-based. */
  readonly line: number;
  /** `organizations[2].sites[0]`. */
  readonly path: string;
  /** Lines of its fields. */
  readonly lines: Readonly<Record<string, number>>;
}

export type FreeObject = Readonly<Record<string, unknown>>;

export interface FileOrganization extends Located {
  readonly slug: string;
  readonly name?: string;
  readonly type?: "customer" | "internal";
  readonly status?: FileStatus;
  readonly maxDevices?: number | null;
  /** ISO-8601 UTC with milliseconds. */
  readonly contractStart?: string | null;
  readonly contractEnd?: string | null;
  readonly billingContact?: FreeObject | null;
  readonly settings?: FreeObject;
  /** Undefined: not managed by the file. Empty: the organization shall have none. */
  readonly sites?: readonly FileSite[];
  readonly contacts?: readonly FileContact[];
  readonly enrollmentKeys?: readonly FileKey[];
}

export const fileStatuses = ["active", "trial", "suspended", "churned"] as const;
export type FileStatus = (typeof fileStatuses)[number];

/** What a site gets where it is made and says nothing of it. */
export interface NewSites extends Located {
  readonly timezone?: string;
}

export interface FileSite extends Located {
  readonly name: string;
  readonly whenNew?: NewSites;
  readonly timezone?: string;
  readonly address?: FreeObject | null;
  readonly contact?: FreeObject | null;
  readonly settings?: FreeObject;
}

export interface FileContact extends Located {
  readonly name?: string | null;
  readonly email?: string | null;
  readonly phone?: string | null;
  readonly mobile?: string | null;
  readonly title?: string | null;
  readonly roles?: readonly string[];
  readonly isPrimary?: boolean;
  /** Name of a site of the organization; null: the whole organization. */
  readonly site?: string | null;
  readonly notes?: string | null;
}

export interface FileKey extends Located {
  readonly name: string;
  /** Name of a site of the organization; null: any. */
  readonly site?: string | null;
  /** Null: unlimited, which only a rotation can set. */
  readonly maxUsage?: number | null;
  /** Milliseconds from the moment of creation. */
  readonly expiresInMs?: number;
  readonly expiresAt?: string;
  readonly sink?: Sink;
}

/** Where a minted secret goes. */
export type Sink =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "github-output"; readonly name: string }
  | { readonly kind: "stdout" };

/** As written in the file. */
export const sinkText = (sink: Sink): string =>
  sink.kind === "file" ? `file:${sink.path}` : sink.kind === "github-output" ? `github-output:${sink.name}` : "stdout";

export { foldName } from "#contract/core/characters";

export interface FileProblem {
  readonly line: number;
  readonly path: string;
  readonly message: string;
}
