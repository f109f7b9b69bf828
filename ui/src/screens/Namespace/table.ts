/** The table of pods: columns, heights, and the groups that its counts are of. */
import type { PodRow } from '../../backend/bindings';
import type { Column } from '../../components/columns';

const HEALTH_ORDER: Record<string, number> = { bad: 0, waiting: 1, good: 2, done: 3 };

/** Takes `nvidia.com/gpu × 8` apart, so that the number is what is read first. */
export function unitsOf(text: string): { units: number; resource: string } {
  const [resource = text, units] = text.split(/\s*×\s*/u);
  return { units: Number(units ?? 1), resource };
}

function allUnits(pod: PodRow): number {
  return pod.accelerators.reduce((sum, text) => sum + unitsOf(text).units, 0);
}

/** The columns; the namespace only where there are several. */
export function columns(several: boolean): Column<PodRow>[] {
  const namespace: Column<PodRow>[] = several
    ? [{ id: 'namespace', title: 'Namespace', min: 78, grow: 0.6, value: (pod) => pod.namespace }]
    : [];
  return [
    { id: 'name', title: 'Pod', min: 170, grow: 2, value: (pod) => pod.name },
    ...namespace,
    {
      id: 'status',
      title: 'Status',
      min: 140,
      value: (pod) => `${HEALTH_ORDER[pod.health] ?? 9}${pod.status}`,
    },
    {
      id: 'ready',
      title: 'Ready',
      min: 46,
      align: 'end',
      value: (pod) => pod.ready / (pod.containers || 1),
    },
    {
      id: 'restarts',
      title: 'Restarts',
      min: 56,
      align: 'end',
      descending: true,
      value: (pod) => pod.restarts,
      rank: 2,
    },
    {
      id: 'accelerators',
      title: 'Accelerators',
      min: 118,
      grow: 0.9,
      descending: true,
      value: allUnits,
      rank: 1,
    },
    { id: 'node', title: 'Node', min: 70, grow: 0.7, value: (pod) => pod.node, rank: 3 },
    {
      id: 'owner',
      title: 'Controlled by',
      min: 130,
      grow: 1,
      value: (pod) => pod.owner,
      rank: 5,
    },
    {
      id: 'lastRestart',
      title: 'Last restart',
      min: 78,
      align: 'end',
      value: (pod) => (pod.lastRestart === null ? null : -Date.parse(pod.lastRestart)),
      rank: 4,
    },
    { id: 'ip', title: 'Address', min: 104, value: (pod) => pod.ip, rank: 6 },
    {
      id: 'age',
      title: 'Age',
      min: 52,
      align: 'end',
      value: (pod) => (pod.created === null ? null : -Date.parse(pod.created)),
    },
  ];
}

export const POD_ORDER = { id: 'name', descending: false };

export function rowHeight(pod: PodRow): number {
  return pod.reason === null ? 34 : 50;
}

export function rowText(pod: PodRow): string {
  return [
    pod.name,
    pod.namespace,
    pod.status,
    pod.node ?? '',
    pod.owner ?? '',
    pod.ip ?? '',
    pod.reason ?? '',
    ...pod.accelerators,
  ].join(' ');
}

export const GROUPS = [
  { id: 'all', title: 'All', has: () => true },
  { id: 'bad', title: 'Failing', has: (pod: PodRow) => pod.health === 'bad' },
  { id: 'waiting', title: 'Waiting', has: (pod: PodRow) => pod.health === 'waiting' },
  { id: 'good', title: 'Running', has: (pod: PodRow) => pod.health === 'good' },
  { id: 'done', title: 'Done', has: (pod: PodRow) => pod.health === 'done' },
  { id: 'accelerators', title: 'Accelerators', has: (pod: PodRow) => pod.accelerators.length > 0 },
] as const;

export type Group = (typeof GROUPS)[number]['id'];
