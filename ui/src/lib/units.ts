/**
 * Accelerator counts as parts of a picture.
 *
 * Invariant: a part is drawn only where its number is known; what is not known is its own part, never another's rest.
 */
import type { PoolView, UnitCounts } from '../backend/bindings';
import { count } from './format';

export interface Parts {
  /** Held by pods. */
  held: number;
  /** Free, on nodes that can take a pod now. */
  usable: number;
  /** Free, on nodes that cannot. */
  blocked: number;
  /** Free, and nobody said whether a pod could have them. */
  unsaid: number;
}

/** The parts of a bar; `null` where the whole is unknown. */
export function share(units: UnitCounts): Parts | null {
  const { allocatable, requested, free, usableFree } = units;
  if (allocatable === null || requested === null) return null;
  const rest = free ?? Math.max(0, allocatable - requested);
  const usable = usableFree === null ? 0 : Math.min(usableFree, rest);
  return {
    held: requested,
    usable,
    blocked: usableFree === null ? 0 : rest - usable,
    unsaid: usableFree === null ? rest : 0,
  };
}

export type Cell = 'held' | 'free' | 'blocked' | 'lost' | 'unknown';

/** The most units that are drawn one by one. */
export const MOST_CELLS = 16;

/** One cell per unit of a pool on a node; `null` where there are too many to draw. */
export function cellsOf(pool: PoolView, nodeBlocked: boolean): Cell[] | null {
  const { allocatable, requested, usableFree } = pool.units;
  const size = Math.max(pool.capacity ?? 0, allocatable ?? 0);
  if (size > MOST_CELLS) return null;
  if (allocatable === null || requested === null) return Array<Cell>(size || 1).fill('unknown');
  const held = Math.min(requested, size);
  const lost = Math.min(Math.max(0, size - allocatable), size - held);
  const rest = size - held - lost;
  const usable = nodeBlocked ? 0 : Math.min(usableFree ?? rest, rest);
  return [
    ...Array<Cell>(held).fill('held'),
    ...Array<Cell>(usable).fill('free'),
    ...Array<Cell>(rest - usable).fill('blocked'),
    ...Array<Cell>(lost).fill('lost'),
  ];
}

/** The same in words: `52 held, 12 free (8 usable now), of 64; 1 out of service`. */
export function unitsInWords(units: UnitCounts, capacity: number | null = null): string {
  const { allocatable, requested, free, usableFree } = units;
  if (allocatable === null) return 'units unknown';
  const held = requested === null ? 'holders unknown' : `${count(requested)} held`;
  const usable = usableFree === null || usableFree === free ? '' : ` (${count(usableFree)} usable now)`;
  const open = free === null ? '' : `, ${count(free)} free${usable}`;
  const lost = capacity === null ? 0 : capacity - allocatable;
  return `${held}${open}, of ${count(allocatable)}${lost > 0 ? `; ${count(lost)} out of service` : ''}`;
}
