/** Repeatable chance: the same seed draws the same fleet, so that a screenshot differs only where the UI does. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** In [0, 1). Mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number in [0, below). */
  below(below: number): number {
    return Math.floor(this.next() * below);
  }

  pick<T>(from: readonly [T, ...T[]]): T {
    return from[this.below(from.length)] ?? from[0];
  }

  /** Letters and digits as Kubernetes appends them to a pod's name. */
  suffix(length: number): string {
    const letters = 'bcdfghjklmnpqrstvwxz2456789';
    return Array.from({ length }, () => letters[this.below(letters.length)]).join('');
  }
}

/** An instant this many seconds ago. */
export function ago(seconds: number): string {
  return new Date(Date.now() - seconds * 1000).toISOString();
}

/** An instant this many seconds from now. */
export function ahead(seconds: number): string {
  return ago(-seconds);
}
