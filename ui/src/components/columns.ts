/** Columns of a {@link DataGrid}, and the order of their values. */

export interface Column<Row> {
  id: string;
  title: string;
  /** The least width in pixels. */
  min: number;
  /** The share of what is left over; none where the column stays at its least width. */
  grow?: number;
  align?: 'start' | 'end';
  /** What the column is ordered by; `null` is unknown and stands last in both directions. Without it: no order. */
  value?: (row: Row) => string | number | null;
  /** Whether the first click puts the largest first. */
  descending?: boolean;
  /** Where room is short, columns of a higher rank go first; those without one always stay. */
  rank?: number;
}

export interface Order {
  id: string;
  descending: boolean;
}

/** Reads an order from an address: `name`, or `-name` for descending. */
export function parseOrder(text: string | undefined, fallback: Order): Order {
  if (!text) return fallback;
  return text.startsWith('-') ? { id: text.slice(1), descending: true } : { id: text, descending: false };
}

export function orderText(order: Order): string {
  return (order.descending ? '-' : '') + order.id;
}

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

/** Numbers by size; words as people count them, `node-2` before `node-10`. */
export function compareValues(a: string | number, b: string | number): number {
  return typeof a === 'number' && typeof b === 'number' ? a - b : collator.compare(String(a), String(b));
}

/** Space between columns, in pixels. */
export const COLUMN_GAP = 20;

/** The width that columns need at least, with the gaps between them and the insets beside them. */
export function leastWidth(columns: readonly { min: number }[], inset: number): number {
  const gaps = Math.max(0, columns.length - 1) * COLUMN_GAP;
  return columns.reduce((sum, column) => sum + column.min, 0) + gaps + 2 * inset;
}

/** The columns that fit into a width, in their order. */
export function fitting<Row>(columns: readonly Column<Row>[], width: number, inset: number): Column<Row>[] {
  const byRank = columns
    .filter((column) => column.rank !== undefined)
    .sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0));
  const kept = new Set(columns.filter((column) => column.rank === undefined));
  for (const column of byRank) {
    if (leastWidth([...kept, column], inset) <= width) kept.add(column);
  }
  return columns.filter((column) => kept.has(column));
}

/** The tracks of CSS grid. */
export function tracksOf(columns: readonly { min: number; grow?: number }[]): string {
  return columns
    .map(({ min, grow }) => (grow === undefined ? `${min}px` : `minmax(${min}px, ${grow}fr)`))
    .join(' ');
}
