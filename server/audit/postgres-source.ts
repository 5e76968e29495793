import pg from "pg";
import { to as copyTo } from "pg-copy-streams";
import { type ChainKind, type ChainRef, sha256 } from "./chain.ts";
import type { ChainSource, ChainVisitor } from "./chain-source.ts";
import { type ColumnType, canonicalSpeller, idAt, uuidOf } from "./copied-canonical.ts";
import { type CopiedLink, linkAt } from "./copied-link.ts";
import { LinksInOrder, WAITING_MAX } from "./links-in-order.ts";
import { contentColumns, contentTypes, linkSelect } from "./postgres-columns.ts";
import { copiedTuples, tupleEnd } from "./postgres-copy.ts";
import { walkStatements } from "./postgres-statements.ts";

/**
 * A chain in Postgres. Two connections share one snapshot: contents are compared by merging rows and entries in the
 * order of the audit id, which is cheaper for the server than any join. Hashing and comparing happen here, because the
 * database's owner can redefine its functions.
 */
export async function postgresChainSource(
  url: string,
  chain: ChainRef,
  waitingMax = WAITING_MAX,
): Promise<ChainSource> {
  const clients: pg.Client[] = [];
  try {
    const entries = await connect(url, clients);
    await entries.query("begin isolation level repeatable read read only");
    const { rows } = await entries.query("select pg_catalog.pg_export_snapshot() as snapshot");
    const contents = await connect(url, clients);
    await contents.query("begin isolation level repeatable read read only");
    await contents.query(`set transaction snapshot ${pg.escapeLiteral(rows[0].snapshot)}`);
    const where = `chain_kind = ${pg.escapeLiteral(chain.kind)} and chain_id = ${pg.escapeLiteral(chain.id)}`;
    return {
      chain,
      statements: () => walkStatements(entries, where),
      walk: async (visitor) => {
        const first = await firstOfWhole(entries, where);
        const links = new LinksInOrder(first ?? 0, visitor.link, waitingMax);
        if (first === undefined) await walkLinks(entries, where, visitor);
        const walked = { where, owner: owned(chain), reader: readerOf(chain), visitor };
        await walkRows(entries, contents, { ...walked, ...(first === undefined ? {} : { links }) });
        if (links.isHolding) await walkLinks(entries, `${where} and chain_seq >= ${links.next}`, visitor);
      },
      close: () => close(clients),
    };
  } catch (error) {
    await close(clients);
    throw error;
  }
}

async function connect(url: string, clients: pg.Client[]): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: "rmm-audit-verify" });
  // A lost connection rejects the query that runs; without a listener it would also end the process.
  client.on("error", () => undefined);
  clients.push(client);
  await client.connect();
  // A thread that is ended leaves a statement behind, with its snapshot, that may long have nothing to send. Where the
  // database does not know the setting it notices when it sends something.
  await client.query("set client_connection_check_interval = '1s'").catch(() => undefined);
  await client.query(
    "set search_path = pg_catalog, pg_temp; set timezone = 'UTC'; set datestyle = 'ISO'; set rmm.scope = 'system'",
  );
  return client;
}

const close = async (clients: pg.Client[]) => {
  await Promise.allSettled(clients.map((client) => client.end()));
};

/** Where a chain begins that has an entry at every position up to its last. */
async function firstOfWhole(client: pg.Client, where: string): Promise<number | undefined> {
  const { rows } = await client.query(
    `select min(chain_seq) as first, max(chain_seq) - min(chain_seq) + 1 = count(*) as whole
     from public.audit_chain where ${where}`,
  );
  return rows[0].whole ? Number(rows[0].first) : undefined;
}

async function walkLinks(client: pg.Client, where: string, visitor: ChainVisitor): Promise<void> {
  const sql = `copy (${await linkSelect(client)} where ${where} order by chain_seq) to stdout binary`;
  const links = pull(copied(client, sql), linkAt);
  for (let link = await links.next(); link; link = links.buffered() ?? (await links.next())) visitor.link(link);
}

const copied = (client: pg.Client, sql: string) => copiedTuples(client.query(copyTo(sql)));

interface Walked {
  readonly where: string;
  readonly owner: string;
  readonly reader: string;
  readonly visitor: ChainVisitor;
  /** Takes the links on the way: one read of them instead of two. */
  readonly links?: LinksInOrder;
}

async function walkRows(
  entriesClient: pg.Client,
  rowsClient: pg.Client,
  { where, owner, reader, visitor, links }: Walked,
): Promise<void> {
  const entriesSql = `copy (${await linkSelect(entriesClient)} where ${where} order by audit_id) to stdout binary`;
  const checksum = `case when reader_partner_id is not distinct from ${reader} then checksum end`;
  const types = await contentTypes(rowsClient);
  const columns = contentColumns(types, checksum);
  const rowsSql = `copy (select ${columns} from public.audit_logs where ${owner} order by id) to stdout binary`;
  const absent: CopiedLink[] = [];
  const gone = (entry: CopiedLink) => {
    if (absent.length < ABSENT_MAX) absent.push(entry);
    else visitor.missingRow(entry.chainSeq, entry.auditId);
  };
  const entries = pull(copied(entriesClient, entriesSql), (data, at) => {
    const link = linkAt(data, at);
    links?.add(link);
    return link;
  });
  const spell = canonicalSpeller(types);
  let entry = entries.buffered() ?? (await entries.next());
  for await (const data of copied(rowsClient, rowsSql))
    for (let [at, end] = [0, 0]; at < data.length; at = end) {
      end = tupleEnd(data, at) ?? data.length;
      const id = idAt(data, at);
      while (entry !== undefined && entry.id < id) {
        gone(entry);
        entry = entries.buffered() ?? (await entries.next());
      }
      if (entry?.id !== id) {
        visitor.unsealedRow(uuidOf(id));
        continue;
      }
      const spelled = spell(data, at, end);
      const hash = spelled ? sha256(spelled.canonical) : "";
      visitor.row(entry, hash, spelled?.checksum === entry.contentHash);
      entry = entries.buffered() ?? (await entries.next());
    }
  for (; entry !== undefined; entry = entries.buffered() ?? (await entries.next())) gone(entry);
  await reportAbsent(rowsClient, types, absent, visitor);
}

/** An entry without a row of this owner: the row is gone, or now names another owner. */
async function reportAbsent(client: pg.Client, types: ColumnType[], absent: CopiedLink[], visitor: ChainVisitor) {
  if (absent.length === 0) return;
  const sql = `copy (select ${contentColumns(types, "checksum")} from public.audit_logs
    where id in (${absent.map((entry) => pg.escapeLiteral(entry.auditId)).join(", ")})) to stdout binary`;
  const moved = new Map<string, string>();
  const spell = canonicalSpeller(types);
  for await (const data of copied(client, sql))
    for (let [at, end] = [0, 0]; at < data.length; at = end) {
      end = tupleEnd(data, at) ?? data.length;
      const spelled = spell(data, at, end);
      moved.set(idAt(data, at), spelled ? sha256(spelled.canonical) : "");
    }
  for (const entry of absent) {
    const hash = moved.get(entry.id);
    if (hash === undefined) visitor.missingRow(entry.chainSeq, entry.auditId);
    else visitor.row(entry, hash, false);
  }
}

const ABSENT_MAX = 100;

/** Reads one item at a time; `buffered` answers without waiting while there is something at hand. */
function pull<T>(batches: AsyncGenerator<Buffer>, read: (data: Buffer, at: number) => T) {
  let data: Buffer = Buffer.alloc(0);
  let at = 0;
  const buffered = (): T | undefined => {
    if (at >= data.length) return undefined;
    const from = at;
    at = tupleEnd(data, at) ?? data.length;
    return read(data, from);
  };
  const next = async (): Promise<T | undefined> => {
    while (at >= data.length) {
      const batch = await batches.next();
      if (batch.done) return undefined;
      data = batch.value;
      at = 0;
    }
    return buffered();
  };
  return { buffered, next };
}

const owned = ({ kind, id }: ChainRef): string => {
  const conditions: Record<ChainKind, string> = {
    organization: `org_id = ${pg.escapeLiteral(id)}`,
    partner: `org_id is null and partner_id = ${pg.escapeLiteral(id)}`,
    system: "org_id is null and partner_id is null",
  };
  return conditions[kind];
};

/** Whose lists show the chain's entries is not hashed: it follows from the owner, and is compared with it. */
const readerOf = ({ kind, id }: ChainRef): string => {
  const readers: Record<ChainKind, string> = {
    organization: `coalesce((select partner_id from public.organizations where id = ${pg.escapeLiteral(id)}), reader_partner_id)`,
    partner: `${pg.escapeLiteral(id)}::uuid`,
    system: "null::uuid",
  };
  return readers[kind];
};
