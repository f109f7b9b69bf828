/**
 * One thing that is read from the backend, with the state of the reading.
 *
 * Invariants: an answer that comes after a newer question was asked is dropped; a failed refresh keeps what was known,
 * so that the screen can show it as old; a value belongs to its key, and never outlives it.
 */
import { toAppError } from '../backend/backend';
import type { AppError } from '../backend/bindings';

export class Reading<T> {
  value = $state.raw<T | null>(null);
  error = $state.raw<AppError | null>(null);
  loading = $state(false);
  #asked = 0;
  #key = '';

  /** Nothing known yet, and being asked. */
  get first(): boolean {
    return this.value === null && this.loading;
  }

  /** Asks. A new `key` (another cluster, another namespace) forgets the value of the old one first. */
  async load(ask: () => Promise<T>, key = ''): Promise<void> {
    if (key !== this.#key) this.forget();
    this.#key = key;
    const mine = ++this.#asked;
    this.loading = true;
    try {
      const value = await ask();
      if (mine !== this.#asked) return;
      this.value = value;
      this.error = null;
    } catch (thrown) {
      if (mine !== this.#asked) return;
      this.error = toAppError(thrown);
    }
    this.loading = false;
  }

  /** Takes a value that came unasked. */
  put(value: T): void {
    this.value = value;
    this.error = null;
  }

  forget(): void {
    this.#asked += 1;
    this.value = null;
    this.error = null;
    this.loading = false;
  }
}

/** One action that a person started: whether it runs, and why it failed. */
export class Action {
  running = $state(false);
  error = $state.raw<AppError | null>(null);

  /** Runs it, unless it already runs. Answers `null` where it failed. */
  async run<T>(work: () => Promise<T>): Promise<T | null> {
    if (this.running) return null;
    this.running = true;
    this.error = null;
    try {
      return await work();
    } catch (thrown) {
      this.error = toAppError(thrown);
      return null;
    } finally {
      this.running = false;
    }
  }
}
