/** A number with its word, for {@link Figures}. */
import type { UnitCounts } from '../backend/bindings';

export interface Figure {
  id: string;
  title: string;
  value: number | null;
  /** Why the value is not known, for when it is not. */
  why: string;
  /** The whole that the value is part of. */
  of?: number;
  /** The colour of a bar that the number belongs to. */
  mark?: 'held' | 'usable' | 'blocked';
  tone?: 'wait';
}

/** The figures of accelerator units. */
export function unitFigures(units: UnitCounts, waiting: number | null, why: string): Figure[] {
  const { cards, requested, free, usableFree } = units;
  const blocked = free === null || usableFree === null ? null : free - usableFree;
  return [
    { id: 'cards', title: 'cards', value: cards, why },
    { id: 'held', title: 'held', value: requested, why, mark: 'held' },
    { id: 'usable', title: 'usable now', value: usableFree, why, mark: 'usable' },
    { id: 'blocked', title: 'free, not usable', value: blocked, why, mark: 'blocked' },
    { id: 'waiting', title: 'waited for', value: waiting, why },
  ];
}
