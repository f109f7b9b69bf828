/**
 * The words for states. One place, so that the same thing is called the same on every screen.
 *
 * Invariant: absent, forbidden, unreachable, broken, empty, loading, stale and unknown have different words.
 */
import type {
  ClusterRow,
  ErrorKind,
  ReadingState,
  RegisterStep,
  ScopeView,
  UnknownCluster,
} from '../backend/bindings';
import { plural } from './format';

export type Tone = 'good' | 'wait' | 'bad' | 'quiet' | 'info';

interface StateWords {
  word: string;
  tone: Tone;
  /** One sentence for the tooltip. */
  sentence: string;
}

export const READING: Record<ReadingState, StateWords> = {
  idle: { word: 'Not read yet', tone: 'quiet', sentence: 'Nobody has asked this cluster yet.' },
  loading: { word: 'Reading', tone: 'quiet', sentence: 'The cluster is being read for the first time.' },
  fresh: { word: 'Fresh', tone: 'good', sentence: 'The last reading is complete.' },
  stale: { word: 'Stale', tone: 'wait', sentence: 'The last refresh failed; older numbers are shown.' },
  partial: { word: 'Partial', tone: 'wait', sentence: 'Some part of the cluster could not be read.' },
  forbidden: { word: 'Forbidden', tone: 'wait', sentence: 'The credential may not read this.' },
  unreachable: { word: 'Unreachable', tone: 'bad', sentence: 'The cluster did not answer.' },
  failed: {
    word: 'Unusable answer',
    tone: 'bad',
    sentence: 'The cluster answered in a way that cannot be used.',
  },
};

/** The order in which states are listed and sorted: what needs a person first. */
export const READING_ORDER: Record<ReadingState, number> = {
  unreachable: 0,
  failed: 1,
  forbidden: 2,
  partial: 3,
  stale: 4,
  idle: 5,
  loading: 6,
  fresh: 7,
};

export const ERROR_TONE: Record<ErrorKind, Tone> = {
  absent: 'quiet',
  forbidden: 'wait',
  unreachable: 'bad',
  refused: 'wait',
  'signed-out': 'info',
  failed: 'bad',
};

export const ERROR_TITLE: Record<ErrorKind, string> = {
  absent: 'Not found',
  forbidden: 'Not permitted',
  unreachable: 'No answer',
  refused: 'Refused',
  'signed-out': 'Signed out',
  failed: 'That did not work',
};

export const STEPS: readonly { step: RegisterStep; title: string; detail: string }[] = [
  { step: 'checking', title: 'Check the file', detail: 'The same verdict once more, on the staged bytes.' },
  { step: 'probing', title: 'Ask the cluster', detail: 'It has 15 seconds to answer with this credential.' },
  {
    step: 'sealing',
    title: 'Seal the credential',
    detail: 'It goes to the organisation’s KMS and nowhere else.',
  },
  { step: 'indexing', title: 'Add it to the roll', detail: 'One row in the organisation’s index.' },
];

/** Whether a registration is bound to namespaces. */
export function isBounded(scope: ScopeView): scope is Extract<ScopeView, { kind: 'namespaces' }> {
  return scope.kind === 'namespaces';
}

/** A registration's scope, short. */
export function scopeWords(scope: ScopeView): string {
  return isBounded(scope) ? plural(scope.names.length, 'namespace') : 'Whole cluster';
}

/** Why a number of a cluster is not known. */
export function whyUnknown(row: Pick<ClusterRow, 'state' | 'scope'>): string {
  if (isBounded(row.scope))
    return 'The registration is bound to namespaces; this belongs to the whole cluster.';
  switch (row.state) {
    case 'fresh':
    case 'stale':
      return 'The cluster did not say.';
    default:
      return READING[row.state].sentence;
  }
}

/** Why a sum leaves a cluster out. */
export function whyLeftOut(cluster: UnknownCluster, row: ClusterRow | undefined): string {
  if (row && isBounded(row.scope)) return 'bound to namespaces';
  return READING[cluster.state].word.toLowerCase();
}

/** The kind of an accelerator unit, for people. */
export function kindWords(kind: string): string {
  const known: Record<string, string> = {
    gpu: 'whole cards',
    'gpu-shared': 'shares of a card',
    'gpu-virtual': 'virtual cards',
    mig: 'MIG slices',
    partition: 'partitions',
    passthrough: 'passed through',
    vgpu: 'vGPU',
    tpu: 'TPU chips',
    npu: 'NPUs',
    hpu: 'Gaudi cards',
    neuron: 'Neuron devices',
  };
  return known[kind] ?? kind;
}
