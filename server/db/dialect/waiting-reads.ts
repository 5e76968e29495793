/** What waits; undefined = the server's own work. */
interface OfTenant {
  readonly tenant: string | undefined;
}

/** Statements that wait for a thread or a connection. Tenants take turns: whoever asks for much waits behind oneself alone. */
export class WaitingReads<Asked extends OfTenant> {
  /** In the order in which the tenants are next. */
  readonly #byTenant = new Map<string | undefined, Asked[]>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(asked: Asked): void {
    const others = this.#byTenant.get(asked.tenant);
    if (others) others.push(asked);
    else this.#byTenant.set(asked.tenant, [asked]);
    this.#length += 1;
  }

  /**
   * The first statement of the tenant whose turn it is. One that holds `most` threads waits for its own: statements that
   * were given up hold theirs until they end, and would otherwise come to hold them all.
   */
  shift(threads: readonly { readonly asked: Asked | undefined }[], most: number): Asked | undefined {
    const holds = (tenant: string) => threads.filter(({ asked }) => asked?.tenant === tenant).length;
    const turn = [...this.#byTenant].find(([tenant]) => tenant === undefined || holds(tenant) < most);
    if (!turn) return undefined;
    const [tenant, [first, ...rest]] = turn;
    this.#byTenant.delete(tenant);
    if (rest.length > 0) this.#byTenant.set(tenant, rest);
    this.#length -= 1;
    return first;
  }

  /** Whether it waited. */
  remove(asked: Asked): boolean {
    const own = this.#byTenant.get(asked.tenant) ?? [];
    const at = own.indexOf(asked);
    if (at < 0) return false;
    own.splice(at, 1);
    if (own.length === 0) this.#byTenant.delete(asked.tenant);
    this.#length -= 1;
    return true;
  }

  /** The newest statement of the tenant that has most, if it has more than `tenant` would have with one more. */
  excess(tenant: string | undefined): Asked | undefined {
    const own = this.#byTenant.get(tenant)?.length ?? 0;
    const ofTenants = [...this.#byTenant].filter(([name]) => name !== undefined).map(([, asked]) => asked);
    const most = ofTenants.reduce((one, other) => (other.length > one.length ? other : one), []);
    return most.length > own + 1 ? most.at(-1) : undefined;
  }

  clear(): Asked[] {
    const all = [...this.#byTenant.values()].flat();
    this.#byTenant.clear();
    this.#length = 0;
    return all;
  }
}
