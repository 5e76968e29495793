import { type Kysely, sql } from "kysely";
import type { Database } from "../tables.ts";
import type { DialectName } from "./index.ts";

/** One minute-hand turn of a ring of 61 buckets that together cover a window. */
export interface RingRequest {
  readonly key: string;
  /** Number of the bucket the clock is in. */
  readonly bucket: number;
  readonly max: number;
  /** Calls to take; 0 looks only; negative returns calls that were taken, newest first. */
  readonly amount: number;
  /** When the row may be removed. */
  readonly expiresAt: string;
}

export interface RingState {
  readonly allowed: boolean;
  /** Calls counted after the request. */
  readonly used: number;
  /** Oldest bucket that counts anything; null when nothing does. */
  readonly oldest: number | null;
}

export const RING_BUCKETS = 61;

/**
 * So far ahead of the clock no replica's clock is, an hour at least: a clock was wrong and has been set right. Without
 * this, what it counted would count until its time comes.
 */
const AHEAD_BUCKETS = 3_660;

/** Atomic on both databases; on Postgres nearly always one statement. */
export async function changeRing(db: Kysely<Database>, dialect: DialectName, request: RingRequest): Promise<RingState> {
  if (dialect === "postgres") return onPostgres(db, request);
  return db.isTransaction ? onSqlite(db, request) : db.transaction().execute((tx) => onSqlite(tx, request));
}

async function onPostgres(
  db: Kysely<Database>,
  { key, bucket, max, amount, expiresAt }: RingRequest,
): Promise<RingState> {
  // A call within the newest bucket, which nearly every call is, needs no function: that costs as much again (measured).
  const place = (bucket % RING_BUCKETS) + 1;
  const taken =
    amount <= 0
      ? undefined
      : await sql<Omit<RingState, "allowed">>`
    update rate_limits set ring[${place}::int] = ring[${place}::int] + ${amount}::int, used = used + ${amount}::int,
      oldest = coalesce(oldest, ${bucket}::bigint), expires_at = ${expiresAt}::timestamptz
    where key = ${key} and head = ${bucket}::bigint and used + ${amount}::int <= ${max}::bigint
    returning used, oldest`.execute(db);
  if (taken?.rows[0]) return { allowed: true, ...taken.rows[0] };
  const { rows } = await sql<RingState>`
    select allowed, used, oldest from rmm_ring(${key}, ${bucket}::bigint, ${max}::bigint, ${amount}::int, ${expiresAt}::timestamptz)`.execute(
    db,
  );
  return rows[0] as RingState;
}

async function onSqlite(
  db: Kysely<Database>,
  { key, bucket, max, amount, expiresAt }: RingRequest,
): Promise<RingState> {
  const row = await db.selectFrom("rateLimits").select(["head", "ring"]).where("key", "=", key).executeTakeFirst();
  const turned = turn(row && { head: row.head, ring: JSON.parse(row.ring) as number[] }, bucket);
  const { allowed, changed } = apply(turned, max, amount);
  if (changed || (row && turned.head < row.head)) {
    const kept = {
      head: turned.head,
      ring: JSON.stringify(turned.ring),
      used: total(turned),
      oldest: oldestOf(turned),
    };
    const values = { ...kept, expiresAt };
    await db
      .insertInto("rateLimits")
      .values({ key, ...values })
      .onConflict((conflict) => conflict.column("key").doUpdateSet(values))
      .execute();
  }
  return { allowed, used: total(turned), oldest: oldestOf(turned) };
}

export interface Ring {
  head: number;
  ring: number[];
}

/**
 * Moves the ring's head to `bucket`, emptying what has left the window. A clock that steps back moves nothing; one that
 * was far ahead has all it counted counted as of now.
 */
export function turn(row: Ring | undefined, bucket: number): Ring {
  const empty = new Array<number>(RING_BUCKETS).fill(0);
  if (!row || bucket - row.head >= RING_BUCKETS) return { head: bucket, ring: empty };
  if (row.head - bucket >= AHEAD_BUCKETS) {
    empty[bucket % RING_BUCKETS] = total(row);
    return { head: bucket, ring: empty };
  }
  const ring = [...row.ring];
  for (let step = row.head + 1; step <= bucket; step += 1) ring[step % RING_BUCKETS] = 0;
  return { head: Math.max(row.head, bucket), ring };
}

/** Takes, looks or gives back; the ring is changed in place. */
export function apply(state: Ring, max: number, amount: number): { allowed: boolean; changed: boolean } {
  const used = total(state);
  const at = (bucket: number) => bucket % RING_BUCKETS;
  if (amount > 0) {
    if (used + amount > max) return { allowed: false, changed: false };
    state.ring[at(state.head)] = (state.ring[at(state.head)] ?? 0) + amount;
    return { allowed: true, changed: true };
  }
  let left = -amount;
  for (let bucket = state.head; left > 0 && bucket > state.head - RING_BUCKETS && bucket >= 0; bucket -= 1) {
    const returned = Math.min(left, state.ring[at(bucket)] ?? 0);
    state.ring[at(bucket)] = (state.ring[at(bucket)] ?? 0) - returned;
    left -= returned;
  }
  return { allowed: used < max, changed: amount < 0 };
}

export const total = ({ ring }: Ring): number => ring.reduce((sum, count) => sum + count, 0);

export function oldestOf({ head, ring }: Ring): number | null {
  for (let bucket = Math.max(0, head - RING_BUCKETS + 1); bucket <= head; bucket += 1) {
    if ((ring[bucket % RING_BUCKETS] ?? 0) > 0) return bucket;
  }
  return null;
}

/**
 * The same, in one statement for a call within the newest bucket, which nearly every call is: total and oldest bucket
 * are kept beside the ring, so that nothing is walked. Otherwise: lock, turn, decide, store. Names are qualified instead
 * of a search path being set, which would cost more than the check.
 */
export const ringFunction = `
create function rmm_ring(k text, m bigint, lim bigint, amount int, expires timestamptz, out allowed boolean, out used bigint, out oldest bigint)
language plpgsql as $$
declare h bigint; r int[]; b bigint; give int; taken int; late boolean := false;
begin
  if amount > 0 then
    update public.rate_limits l set ring[(m % 61)::int + 1] = l.ring[(m % 61)::int + 1] + amount,
      used = l.used + amount, oldest = coalesce(l.oldest, m), expires_at = expires
    where l.key = k and l.head = m and l.used + amount <= lim returning l.used, l.oldest into used, oldest;
    if found then
      allowed := true;
      return;
    end if;
  end if;
  select l.head, l.ring into h, r from public.rate_limits l where l.key = k for update;
  if not found then
    insert into public.rate_limits (key, head, ring, used, oldest, expires_at)
      values (k, m, array_fill(0, array[61]), 0, null, expires) on conflict (key) do nothing;
    select l.head, l.ring into h, r from public.rate_limits l where l.key = k for update;
  end if;
  if m - h >= 61 then r := array_fill(0, array[61]); h := m;
  elsif h - m >= ${AHEAD_BUCKETS} then
    select sum(x) into used from unnest(r) x;
    r := array_fill(0, array[61]);
    r[(m % 61)::int + 1] := used;
    h := m;
    late := true;
  else
    for b in h + 1 .. m loop r[(b % 61)::int + 1] := 0; end loop;
    h := greatest(h, m);
  end if;
  select sum(x) into used from unnest(r) x;
  allowed := case when amount > 0 then used + amount <= lim else used < lim end;
  if amount > 0 and allowed then
    r[(h % 61)::int + 1] := r[(h % 61)::int + 1] + amount;
    used := used + amount;
  end if;
  if amount < 0 then
    give := -amount;
    for b in reverse h .. greatest(0, h - 60) loop
      exit when give = 0;
      taken := least(give, r[(b % 61)::int + 1]);
      r[(b % 61)::int + 1] := r[(b % 61)::int + 1] - taken;
      used := used - taken;
      give := give - taken;
    end loop;
  end if;
  if used > 0 then
    for b in greatest(0, h - 60) .. h loop
      if r[(b % 61)::int + 1] > 0 then oldest := b; exit; end if;
    end loop;
  end if;
  if late or amount < 0 or (amount > 0 and allowed) then
    update public.rate_limits l set head = h, ring = r, used = rmm_ring.used, oldest = rmm_ring.oldest, expires_at = expires where l.key = k;
  end if;
end $$`;
