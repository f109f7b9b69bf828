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

/**
 * The figures of accelerators. Held, usable and the rest count schedulable units; where cards are cut or shared, that is
 * another number than the cards, and it is shown beside them so that nobody adds the two.
 */
export function unitFigures(units: UnitCounts, waiting: number | null, why: string): Figure[] {
  const { cards, allocatable, requested, free, usableFree } = units;
  const blocked = free === null || usableFree === null ? null : free - usableFree;
  return [
    { id: 'cards', title: 'cards', value: cards, why },
    ...(allocatable !== null && allocatable !== cards
      ? [{ id: 'units', title: 'schedulable units', value: allocatable, why }]
      : []),
    { id: 'held', title: 'held', value: requested, why, mark: 'held' },
    { id: 'usable', title: 'usable now', value: usableFree, why, mark: 'usable' },
    { id: 'blocked', title: 'free, not usable', value: blocked, why, mark: 'blocked' },
    { id: 'waiting', title: 'waited for', value: waiting, why },
  ];
}
