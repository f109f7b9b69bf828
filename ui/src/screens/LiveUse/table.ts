/** The table of measured cards: columns, words, and the groups that its counts are of. */
import type { CardUseRow } from '../../backend/bindings';
import type { Column } from '../../components/columns';
import { UNKNOWN } from '../../lib/format';

export const keyOf = (card: CardUseRow): string => [card.node, card.id, card.instance].join('\u0000');

/** `2`, `2 · 3g.40gb #1`; a card without an index is known by its id. */
export function cardName(card: CardUseRow): string {
  const card_ = card.index === null ? card.id : `card ${card.index}`;
  return card.instance === null ? card_ : `${card_} · ${card.instance}`;
}

export function holderWords(card: CardUseRow): string {
  const [first] = card.holders;
  if (!first) return card.held === false ? 'nobody' : card.held ? 'a pod that is not named' : UNKNOWN;
  const name = first.namespace === '' ? first.pod : `${first.namespace}/${first.pod}`;
  return card.holders.length === 1 ? name : `${name} and ${card.holders.length - 1} more`;
}

export const hasFault = (card: CardUseRow): boolean =>
  (card.xid !== null && card.xid !== 0) || card.healthy === false;

/** Why a card stands out, strongest first; `null` where nothing does. */
export function remark(card: CardUseRow): { tone: 'bad' | 'wait'; text: string } | null {
  if (card.xid !== null && card.xid !== 0) return { tone: 'bad', text: `XID ${card.xid}` };
  if (card.healthy === false) return { tone: 'bad', text: 'unhealthy' };
  return card.idle ? { tone: 'wait', text: 'held, idle' } : null;
}

export const COLUMNS: Column<CardUseRow>[] = [
  {
    id: 'card',
    title: 'Card',
    min: 190,
    grow: 1,
    value: (card) => `${card.node ?? '~'} ${card.index ?? card.id} ${card.instance ?? ''}`,
  },
  { id: 'remark', title: 'Remark', min: 96, value: (card) => remark(card)?.text ?? null },
  { id: 'busy', title: 'In use', min: 132, descending: true, value: (card) => card.busy },
  { id: 'peak', title: 'Peak', min: 60, align: 'end', descending: true, value: (card) => card.peak, rank: 4 },
  { id: 'memory', title: 'Memory', min: 150, descending: true, value: (card) => card.memoryUsedMib, rank: 3 },
  { id: 'holder', title: 'Held by', min: 160, grow: 1.6, value: holderWords },
  {
    id: 'power',
    title: 'Power',
    min: 66,
    align: 'end',
    descending: true,
    value: (card) => card.powerWatts,
    rank: 1,
  },
  {
    id: 'heat',
    title: 'Heat',
    min: 60,
    align: 'end',
    descending: true,
    value: (card) => card.temperatureCelsius,
    rank: 2,
  },
];

export const USE_ORDER = { id: 'card', descending: false };

export const GROUPS = [
  { id: 'all', title: 'All', has: () => true },
  { id: 'idle', title: 'Held and idle', has: (card: CardUseRow) => card.idle === true },
  { id: 'faulty', title: 'With errors', has: hasFault },
  { id: 'unmeasured', title: 'Not measured', has: (card: CardUseRow) => card.busy === null },
] as const;

export type Group = (typeof GROUPS)[number]['id'];

export function rowText(card: CardUseRow): string {
  return [
    card.node ?? '',
    cardName(card),
    card.id,
    card.model ?? '',
    remark(card)?.text ?? '',
    ...card.holders.flatMap((holder) => [holder.namespace, holder.pod]),
  ].join(' ');
}

export const SOURCE_WORDS: Record<string, { title: string; words: string }> = {
  prometheus: { title: 'Prometheus', words: 'One answer for every node, and a memory of the last minutes.' },
  'dcgm-exporter': {
    title: 'NVIDIA’s DCGM exporter',
    words: 'Asked node by node; it knows this moment only.',
  },
  'amd-exporter': {
    title: 'AMD’s metrics exporter',
    words: 'Asked node by node; it knows this moment only.',
  },
};
