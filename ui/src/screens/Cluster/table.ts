/** The table of nodes: columns, heights, and the groups that its counts are of. */
import type { NodeView } from '../../backend/bindings';
import type { Column } from '../../components/columns';
import { listed } from '../../lib/format';
import type { Tone } from '../../lib/words';

export interface NodeState {
  id: 'ready' | 'cordoned' | 'not-ready' | 'silent';
  word: string;
  tone: Tone;
}

/** A node's state in one word; the worst that is true. */
export function nodeState(node: NodeView): NodeState {
  if (node.ready === null) return { id: 'silent', word: 'Not reporting', tone: 'bad' };
  if (!node.ready) return { id: 'not-ready', word: 'Not ready', tone: 'bad' };
  if (!node.schedulable) return { id: 'cordoned', word: 'Cordoned', tone: 'wait' };
  return { id: 'ready', word: 'Ready', tone: 'good' };
}

const STATE_ORDER = { silent: 0, 'not-ready': 1, cordoned: 2, ready: 3 } as const;

/** Whether nothing can be placed on the node at present. */
export function isBlocked(node: NodeView): boolean {
  return nodeState(node).id !== 'ready';
}

function sum(node: NodeView, of: 'allocatable' | 'usableFree'): number | null {
  let total = 0;
  for (const pool of node.pools) {
    const value = pool.units[of];
    if (value === null) return null;
    total += value;
  }
  return total;
}

export function usableFree(node: NodeView): number | null {
  return sum(node, 'usableFree');
}

export const COLUMNS: Column<NodeView>[] = [
  { id: 'name', title: 'Node', min: 150, grow: 1, value: (node) => node.name },
  { id: 'state', title: 'State', min: 148, value: (node) => STATE_ORDER[nodeState(node).id] },
  {
    id: 'accelerators',
    title: 'Accelerators',
    min: 264,
    grow: 1.3,
    descending: true,
    value: (node) => sum(node, 'allocatable'),
  },
  { id: 'usable', title: 'Usable', min: 56, align: 'end', descending: true, value: usableFree },
  { id: 'holders', title: 'Held by', min: 130, grow: 1.2, rank: 1 },
  {
    id: 'cpu',
    title: 'Cores',
    min: 54,
    align: 'end',
    descending: true,
    value: (node) => node.cpuMilli,
    rank: 4,
  },
  {
    id: 'memory',
    title: 'Memory',
    min: 74,
    align: 'end',
    descending: true,
    value: (node) => node.memoryMib,
    rank: 3,
  },
  { id: 'zone', title: 'Zone', min: 92, value: (node) => node.zone, rank: 2 },
  { id: 'version', title: 'Version', min: 74, value: (node) => node.version, rank: 5 },
  {
    id: 'age',
    title: 'Age',
    min: 52,
    align: 'end',
    value: (node) => (node.created === null ? null : -Date.parse(node.created)),
    rank: 6,
  },
];

export const NODE_ORDER = { id: 'name', descending: false };

export function rowHeight(node: NodeView): number {
  return Math.max(44, 12 + node.pools.length * 20);
}

export function rowText(node: NodeView): string {
  return [
    node.name,
    nodeState(node).word,
    node.zone ?? '',
    node.region ?? '',
    node.instanceType ?? '',
    node.internalIp ?? '',
    node.version ?? '',
    ...node.roles,
    ...node.problems,
    ...node.pools.flatMap((pool) => [pool.model ?? '', pool.resource, pool.vendor, pool.kind]),
    ...node.holders.flatMap((holder) => [holder.namespace, holder.pod]),
  ].join(' ');
}

export const GROUPS = [
  { id: 'all', title: 'All', has: () => true },
  { id: 'accelerators', title: 'With accelerators', has: (node: NodeView) => node.pools.length > 0 },
  { id: 'usable', title: 'Usable now', has: (node: NodeView) => (usableFree(node) ?? 0) > 0 },
  {
    id: 'attention',
    title: 'Needs attention',
    has: (node: NodeView) => isBlocked(node) || node.problems.length > 0,
  },
] as const;

export type Group = (typeof GROUPS)[number]['id'];

/** Who holds a node's units, largest first, as `owner-of-pod ×n`. */
export function holderWords(node: NodeView): string {
  const sums = new Map<string, number>();
  for (const holder of node.holders)
    sums.set(holder.namespace, (sums.get(holder.namespace) ?? 0) + holder.units);
  const names = [...sums].sort((a, b) => b[1] - a[1]).map(([name, units]) => `${name} ×${units}`);
  return listed(names, 4);
}
