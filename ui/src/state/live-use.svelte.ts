/**
 * Which clusters a person switched live use on for, and from which source. Kept on this device, per org: names of
 * services only.
 *
 * Invariant: nothing is read of a cluster that is not in here.
 */
const KEY = 'muster.live-use';

type Kept = Record<string, Record<string, string>>;

function load(): Kept {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    return typeof kept === 'object' && kept !== null ? (kept as Kept) : {};
  } catch {
    return {};
  }
}

export class LiveUseChoice {
  #kept = $state<Kept>(load());

  /** The chosen source of a cluster; `null` where live use is off. */
  source(org: string, cluster: string): string | null {
    const source: unknown = this.#kept[org]?.[cluster];
    return typeof source === 'string' ? source : null;
  }

  choose(org: string, cluster: string, source: string): void {
    this.#kept = { ...this.#kept, [org]: { ...this.#kept[org], [cluster]: source } };
    this.#save();
  }

  switchOff(org: string, cluster: string): void {
    this.#kept = {
      ...this.#kept,
      [org]: Object.fromEntries(Object.entries(this.#kept[org] ?? {}).filter(([name]) => name !== cluster)),
    };
    this.#save();
  }

  #save(): void {
    try {
      localStorage.setItem(KEY, JSON.stringify(this.#kept));
    } catch {
      // Without storage the choice lasts as long as the window.
    }
  }
}
