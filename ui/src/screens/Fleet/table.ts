/** The fleet's table: its columns, its heights, and what its filter looks at. */
import type { ClusterRow } from '../../backend/bindings';
import type { Column } from '../../components/columns';
import { isBounded, READING, READING_ORDER } from '../../lib/words';

/** Models that are drawn in a row; more are counted. */
export const MODELS_SHOWN = 3;

const LINE = 20;

export const COLUMNS: Column<ClusterRow>[] = [
  { id: 'name', title: 'Cluster', min: 180, grow: 1.15, value: (row) => row.name },
  { id: 'state', title: 'Reading', min: 128, value: (row) => READING_ORDER[row.state] },
  { id: 'nodes', title: 'Nodes', min: 72, align: 'end', descending: true, value: (row) => row.nodes },
  {
    id: 'accelerators',
    title: 'Accelerators held',
    min: 270,
    grow: 2,
    descending: true,
    value: (row) => row.units.allocatable,
  },
  {
    id: 'usable',
    title: 'Usable now',
    min: 84,
    align: 'end',
    descending: true,
    value: (row) => row.units.usableFree,
  },
  {
    id: 'waiting',
    title: 'Waiting',
    min: 66,
    align: 'end',
    descending: true,
    value: (row) => row.pendingUnits,
    rank: 1,
  },
  {
    id: 'pods',
    title: 'Pods',
    min: 60,
    align: 'end',
    descending: true,
    value: (row) => row.pods,
    rank: 2,
  },
  { id: 'version', title: 'Version', min: 78, value: (row) => row.version, rank: 3 },
  { id: 'provider', title: 'Provider', min: 92, value: (row) => row.provider, rank: 4 },
];

export const FLEET_ORDER = { id: 'name', descending: false };

/** How many lines the accelerators of a row take. */
function lines(row: ClusterRow): number {
  if (row.models.length === 0) return row.error ? 3 : 1;
  const shown = Math.min(row.models.length, MODELS_SHOWN);
  return shown + (row.models.length > MODELS_SHOWN ? 1 : 0) + (row.error || row.notes.length > 0 ? 1 : 0);
}

export function rowHeight(row: ClusterRow): number {
  return Math.max(54, 16 + lines(row) * LINE);
}

/** Everything of a row that the filter may find. */
export function rowText(row: ClusterRow): string {
  return [
    row.name,
    row.endpoint,
    row.provider,
    row.version ?? '',
    READING[row.state].word,
    row.default ? 'default' : '',
    ...(isBounded(row.scope) ? ['bound', ...row.scope.names] : []),
    ...row.models.flatMap((model) => [model.model, model.vendor, model.resource, model.kind]),
  ].join(' ');
}
