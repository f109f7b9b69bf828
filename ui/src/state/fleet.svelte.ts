/** The fleet as last told: asked once, then kept by events and by a refresh every half minute while it is visible. */
import type { Backend } from '../backend/backend';
import type { AppEvent, ClusterRow, FleetView } from '../backend/bindings';
import { whileVisible } from './clock.svelte';
import { Action, Reading } from './reading.svelte';

/** How often a visible fleet is read again, in milliseconds. */
export const FLEET_PERIOD = 30_000;

export class Fleet {
  readonly reading = new Reading<FleetView>();
  readonly refreshing = new Action();
  readonly purging = new Action();
  readonly #backend: Backend;
  readonly #rows = $derived(new Map(this.reading.value?.clusters.map((row) => [row.name, row])));

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  row(name: string): ClusterRow | undefined {
    return this.#rows.get(name);
  }

  /** Reads the index, then keeps the numbers young for as long as the caller's effect lives. */
  watch(): () => void {
    void this.load();
    return whileVisible(FLEET_PERIOD, () => void this.refresh(null));
  }

  /** Reads the index of the org. */
  load(): Promise<void> {
    return this.reading.load(() => this.#backend.call('fleet_get'));
  }

  /** Reads one cluster again, or all. */
  async refresh(cluster: string | null): Promise<void> {
    const view = await this.refreshing.run(() => this.#backend.call('fleet_refresh', { cluster }));
    if (view) this.reading.put(view);
  }

  async retryPurges(): Promise<void> {
    const view = await this.purging.run(() => this.#backend.call('purges_retry'));
    if (view) this.reading.put(view);
  }

  hear(event: AppEvent): void {
    if (event.type === 'fleet') this.reading.put(event.data);
  }

  forget(): void {
    this.reading.forget();
  }
}
