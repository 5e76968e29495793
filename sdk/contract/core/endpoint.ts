import type { z } from "zod";
import type { Access } from "./access.ts";
import type { ErrorCode } from "./errors.ts";
import type { EventKind } from "./events.ts";
import { type FieldMeta, idParams } from "./fields.ts";
import type { AuditAction } from "./generated/audit-actions.ts";
import type { RefName } from "./generated/refs.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** A schema that is built on first use, because building all schemas of the product at start takes a second. */
export type Shape<S extends z.ZodType = z.ZodType> = () => S;

/** A schema built once, that OpenAPI has as a component of this name: `const Site = shape("Site", () => z.object({ … }))`. */
export function shape<S extends z.ZodType>(name: string, build: () => S): Shape<S> {
  let built: S | undefined;
  return () => {
    built ??= build().meta({ component: name } satisfies FieldMeta);
    return built;
  };
}

/** A mutation names its audit action; one that writes no entry says why. */
export type AuditRule = AuditAction | { readonly none: string };

/**
 * How an endpoint answers; JSON unless it says otherwise. A `redirect` answers 302; its result is `{ location }`.
 * `json-or-csv` is JSON, and text where CSV was asked for; `json-rpc` is JSON, and so are the errors of that protocol. What the server cannot send is none: a new kind comes with its sender (`server/http/respond.ts`).
 */
export type Transport = "json" | "json-rpc" | "text" | "html" | "redirect" | "csv" | "json-or-csv";

/** What a successful call destroys for good, `work` being what runs: the command asks for confirmation and names it. */
export type Loss = "nothing" | "work" | "row" | "secret" | "tenant";

/** Who writes the texts of a body: those of a machine are repaired where they cannot be stored, a person's refused. */
export type Origin = "person" | "machine";

/** What an id in the path names; `opaque` where it is no row, or one of several kinds. */
export type PathRefs<P extends string> = { readonly [N in ParamNames<P>]?: RefName | "opaque" };

/** How a list comes in pages, and under which key its items stand. */
export interface Paging {
  readonly kind: "whole" | "page" | "cursor";
  readonly items: string;
}

/** Plain types of one endpoint: what the client sends (`…Input`) and what the handler gets after validation. */
export interface EndpointTypes {
  params: unknown;
  query: unknown;
  queryInput: unknown;
  body: unknown;
  bodyInput: unknown;
  result: unknown;
  /** One entry of a list; undefined where the result is no list. */
  item: unknown;
}

export interface Schemas {
  readonly params: z.ZodType | undefined;
  readonly query: z.ZodType | undefined;
  readonly body: z.ZodType | undefined;
  readonly result: z.ZodType | undefined;
}

export interface EndpointSpec<
  Q extends Shape | undefined,
  B extends Shape | undefined,
  R extends Shape | undefined,
  G extends Paging | undefined = Paging | undefined,
  P extends string = string,
> {
  /** One line, imperative: the help text of the command and the summary in OpenAPI. */
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  /** A read names an action only where reading itself is recorded. */
  readonly audit?: AuditRule;
  /** Codes beyond the generic ones (`genericErrors`). */
  readonly errors?: readonly ErrorCode[];
  /** What each path parameter names; `:id` names the noun's own thing unless it is given here. */
  readonly refs?: PathRefs<P>;
  readonly params?: Shape;
  readonly query?: Q;
  readonly body?: B;
  readonly returns?: R;
  readonly status?: 200 | 201 | 202 | 302;
  /** Of a create that may find its row there already. */
  readonly foundStatus?: 200;
  /** Statuses of success beside `status`: the handler says when (`call.answerWith`). */
  readonly otherStatuses?: readonly (200 | 202 | 207)[];
  /** Kind of the row that a create makes, where that is not its noun's own. */
  readonly makes?: RefName;
  /** Why the product has it although nothing demands it. */
  readonly own?: string;
  readonly paging?: G;
  /** What a list shows when no columns are named, the telling ones first: names of fields, `user.email` of nested ones. */
  readonly columns?: readonly string[];
  /** Default: a DELETE loses its row, everything else nothing. */
  readonly loses?: Loss;
  /** Kinds of events that every successful call tells. */
  readonly emits?: readonly EventKind[];
  /** Kinds that it tells in some cases only. */
  readonly mayEmit?: readonly EventKind[];
  /** Default: what an agent may call comes from a machine. */
  readonly from?: Origin;
  /**
   * Accepts `X-Idempotency-Key` (docs/conventions.md, "Idempotency keys"). Every create and every minting of a secret
   * does.
   */
  readonly idempotent?: boolean;
  readonly transport?: Transport;
  /** Default 1 MB; as it is sent. */
  readonly bodyLimitBytes?: number;
  /** Of an agent: its handler has a limit, and that of the device's other requests does not count it. */
  readonly ownLimit?: true;
  /** A body in gzip is read too, of at most so much once it is inflated; without it none is. */
  readonly inflatedLimitBytes?: number;
  /** Mounted at the host root as well as under /api/v1. */
  readonly alsoAtRoot?: boolean;
  /** Every path below it is answered alike. */
  readonly alsoBelow?: true;
  /** An agent or user may send nothing at all where the body is optional as a whole. */
  readonly bodyOptional?: boolean;
  /** Fields that its example gives although each may be left out: a request with none of their like is refused. */
  readonly inExample?: readonly string[];
}

export interface Endpoint<T extends EndpointTypes = EndpointTypes> {
  readonly noun: string;
  readonly verb: string;
  readonly method: Method;
  /** Relative to `/api/v1`, parameters as `:name`. */
  readonly path: string;
  readonly summary: string;
  readonly description: string | undefined;
  readonly access: Access;
  readonly audit: AuditRule;
  readonly errors: readonly ErrorCode[];
  readonly status: 200 | 201 | 202 | 302;
  readonly foundStatus: 200 | undefined;
  readonly otherStatuses: readonly (200 | 202 | 207)[];
  readonly makes: RefName | undefined;
  readonly own: string | undefined;
  readonly paging: Paging | undefined;
  readonly columns: readonly string[];
  readonly inExample: readonly string[];
  readonly loses: Loss;
  readonly emits: readonly EventKind[];
  readonly mayEmit: readonly EventKind[];
  readonly from: Origin;
  /** What each path parameter names. */
  readonly refs: Readonly<Record<string, RefName | "opaque">>;
  readonly idempotent: boolean;
  readonly transport: Transport;
  readonly bodyLimitBytes: number;
  readonly ownLimit: boolean;
  readonly inflatedLimitBytes: number | undefined;
  readonly alsoAtRoot: boolean;
  readonly alsoBelow: boolean;
  readonly bodyOptional: boolean;
  /** Builds the schemas on first use. */
  schemas(): Schemas;
  /** Never set: carries the types. */
  readonly types?: T;
}

type Plain<T> = T extends (infer I)[] ? Plain<I>[] : T extends object ? { [K in keyof T]: T[K] } : T;
type Output<F> = F extends () => infer S ? (S extends z.ZodType ? Plain<z.output<S>> : undefined) : undefined;
type Input<F> = F extends () => infer S ? (S extends z.ZodType ? Plain<z.input<S>> : undefined) : undefined;
type Item<F, G> = G extends { readonly items: infer K extends string } ? ItemUnder<Output<F>, K> : undefined;
type ItemUnder<R, K extends string> = R extends { [Key in K]: (infer I)[] } ? I : never;
type ParamNames<Path extends string> = Path extends `${infer Segment}/${infer Rest}`
  ? ParamNames<Segment> | ParamNames<Rest>
  : Path extends `:${infer Name}`
    ? Name
    : never;
type PathParams<Path extends string> = { [N in ParamNames<Path>]: string };

interface Mutation<
  Q extends Shape | undefined,
  B extends Shape | undefined,
  R extends Shape | undefined,
  P extends string,
> extends EndpointSpec<Q, B, R, undefined, P> {
  readonly audit: AuditRule;
}

/** A POST can mean anything, so it declares what it destroys. */
type Action<
  Q extends Shape | undefined,
  B extends Shape | undefined,
  R extends Shape | undefined,
  P extends string,
> = Mutation<Q, B, R, P> & { readonly loses: Loss };

/** Worked out once, so that hovers and emitted declarations show plain types and no schema. */
interface Types<P extends string, Q, B, R, G> {
  params: PathParams<P>;
  query: Output<Q>;
  queryInput: Input<Q>;
  body: Output<B>;
  bodyInput: Input<B>;
  result: Output<R>;
  item: Item<R, G>;
}

const MEGABYTE = 1024 * 1024;

function define<
  P extends string,
  Q extends Shape | undefined,
  B extends Shape | undefined,
  R extends Shape | undefined,
  const G extends Paging | undefined = undefined,
>(
  method: Method,
  path: P,
  spec: EndpointSpec<Q, B, R, G, P> | Mutation<Q, B, R, P>,
): Endpoint<{ [K in keyof Types<P, Q, B, R, G>]: Types<P, Q, B, R, G>[K] }> {
  let built: Schemas | undefined;
  const names = [...path.matchAll(/:([A-Za-z]+)/g)].map((match) => match[1] as string);
  return {
    noun: "",
    verb: "",
    refs: { ...spec.refs },
    method,
    path,
    summary: spec.summary,
    description: spec.description,
    access: spec.access,
    audit: spec.audit ?? { none: "reads only" },
    errors: spec.errors ?? [],
    status: spec.status ?? (spec.transport === "redirect" ? 302 : 200),
    foundStatus: spec.foundStatus,
    otherStatuses: spec.otherStatuses ?? [],
    makes: spec.makes,
    own: spec.own,
    paging: spec.paging,
    columns: spec.columns ?? [],
    inExample: spec.inExample ?? [],
    loses: spec.loses ?? (method === "DELETE" ? "row" : "nothing"),
    emits: spec.emits ?? [],
    mayEmit: spec.mayEmit ?? [],
    from: spec.from ?? (spec.access.kinds.includes("agent") ? "machine" : "person"),
    idempotent: spec.idempotent ?? false,
    transport: spec.transport ?? "json",
    bodyLimitBytes: spec.bodyLimitBytes ?? MEGABYTE,
    ownLimit: spec.ownLimit ?? false,
    inflatedLimitBytes: spec.inflatedLimitBytes,
    alsoAtRoot: spec.alsoAtRoot ?? false,
    alsoBelow: spec.alsoBelow ?? false,
    bodyOptional: spec.bodyOptional ?? false,
    schemas() {
      built ??= {
        params: spec.params?.() ?? (names.length > 0 ? idParams(names, this.refs) : undefined),
        query: spec.query?.(),
        body: spec.body?.(),
        result: spec.returns?.(),
      };
      return built;
    },
  };
}

export const get = <
  P extends string,
  Q extends Shape | undefined = undefined,
  B extends Shape | undefined = undefined,
  R extends Shape | undefined = undefined,
  const G extends Paging | undefined = undefined,
>(
  path: P,
  spec: EndpointSpec<Q, B, R, G, P>,
) => define("GET", path, spec);
export const post = <
  P extends string,
  Q extends Shape | undefined = undefined,
  B extends Shape | undefined = undefined,
  R extends Shape | undefined = undefined,
>(
  path: P,
  spec: Action<Q, B, R, P>,
) => define("POST", path, spec);
export const put = <
  P extends string,
  Q extends Shape | undefined = undefined,
  B extends Shape | undefined = undefined,
  R extends Shape | undefined = undefined,
>(
  path: P,
  spec: Mutation<Q, B, R, P>,
) => define("PUT", path, spec);
export const patch = <
  P extends string,
  Q extends Shape | undefined = undefined,
  B extends Shape | undefined = undefined,
  R extends Shape | undefined = undefined,
>(
  path: P,
  spec: Mutation<Q, B, R, P>,
) => define("PATCH", path, spec);
export const del = <
  P extends string,
  Q extends Shape | undefined = undefined,
  B extends Shape | undefined = undefined,
  R extends Shape | undefined = undefined,
>(
  path: P,
  spec: Mutation<Q, B, R, P>,
) => define("DELETE", path, spec);

/** POST that creates a row: 201, and repeatable with an idempotency key. */
export const create = <
  P extends string,
  Q extends Shape | undefined = undefined,
  B extends Shape | undefined = undefined,
  R extends Shape | undefined = undefined,
>(
  path: P,
  spec: Mutation<Q, B, R, P>,
) => define("POST", path, { status: 201, idempotent: true, ...spec });

// biome-ignore lint/suspicious/noExplicitAny: the table holds endpoints of every type
export type AnyEndpoint = Endpoint<any>;
export type Resource = Readonly<Record<string, AnyEndpoint>>;

/** Properties of a noun. */
export interface Noun {
  /** Kebab-case: its file, its room in the server and its group of commands have this name. */
  readonly name: string;
  /** One line for the group of commands and the tag in OpenAPI. */
  readonly summary: string;
  /** What `:id` in its paths names. */
  readonly thing?: RefName;
  /** Kinds of rows that it lists, its own first, by the name that `ref()` has for them. */
  readonly kinds?: Readonly<Record<string, RowKind>>;
  /** Kinds that its fields name although no noun has them yet, and why that is. */
  readonly awaits?: Readonly<Record<string, string>>;
  /** Audit actions of its endpoints, and of what else happens to its rows. */
  readonly audits: readonly string[];
}

/** What is known of rows that ids name. */
export interface RowKind {
  /** Fields by which people call such a row and the command finds it; without any it is known by its id alone. */
  readonly names?: readonly string[];
  /** Field that tells people which row it is, where that is not the first of its names. */
  readonly label?: string;
  /** A name that stands in examples of the command. */
  readonly example?: string;
  /** The verb that lists them; `list` unless it is another. */
  readonly listedBy?: string;
  /** Field of each listed row that holds them. */
  readonly within?: string;
  /** They tell of acts: every call may add some. */
  readonly trail?: true;
  /** There may be too many to read: the list is asked for those that its `search` finds. */
  readonly searched?: true;
}

const nouns = new WeakMap<Resource, Noun>();

/** One noun of the product with its verbs; gives each endpoint its name. */
export function resource<R extends Resource>(noun: Noun, endpoints: R): R {
  for (const [verb, endpoint] of Object.entries(endpoints)) {
    const own = noun.thing !== undefined && /:id\b/.test(endpoint.path) ? { id: noun.thing } : {};
    Object.assign(endpoint, { noun: noun.name, verb, refs: { ...own, ...endpoint.refs } });
  }
  nouns.set(endpoints, noun);
  return endpoints;
}

export function nounOf(endpoints: Resource): Noun {
  const noun = nouns.get(endpoints);
  if (noun === undefined) throw new Error("not made by resource()");
  return noun;
}

/** True when a successful call changes something that is audited. */
export const mutates = (endpoint: AnyEndpoint): boolean => typeof endpoint.audit === "string";
