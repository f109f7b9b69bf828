/** Clusters of a story: the rows of the fleet with the nodes, namespaces and pods behind them. */
import type {
  AppError,
  ClusterRow,
  ErrorKind,
  FailedNamespace,
  NamespaceRow,
  NodeView,
  PodRow,
  ScopeView,
} from '../bindings';
import { CARDS, type Card } from './cards';
import { ago, Chance } from './chance';
import { modelsOf, nodeOf, sumUnits, type NodePlan } from './nodes';
import { podsOf } from './pods';

export interface StoryCluster {
  row: ClusterRow;
  nodes: NodeView[] | null;
  namespaces: NamespaceRow[];
  pods: PodRow[];
  failed: FailedNamespace[];
}

export function appError(kind: ErrorKind, code: string, message: string, hint: string | null): AppError {
  return { kind, code, message, hint, retryable: kind !== 'refused' && kind !== 'forbidden' };
}

const WHOLE: ScopeView = { kind: 'wholeCluster' };
const UNKNOWN = { cards: null, allocatable: null, requested: null, free: null, usableFree: null };

const NAMESPACES = [
  'default',
  'gpu-operator',
  'inference',
  'kube-node-lease',
  'kube-system',
  'monitoring',
  'research',
  'training',
  'web',
];

export function namespaceRows(names: readonly string[], terminating = ''): NamespaceRow[] {
  return names.map((name, index) => ({
    name,
    phase: name === terminating ? 'Terminating' : 'Active',
    created: ago(86_400 * (40 + index * 3)),
  }));
}

interface Plan {
  name: string;
  provider: string;
  endpoint?: string;
  version?: string;
  default?: boolean;
  nodes: NodePlan[];
  pods: number;
  pending?: number;
  seed: number;
}

export function cluster(plan: Plan): StoryCluster {
  const chance = new Chance(plan.seed);
  const nodes = plan.nodes.map((node) => nodeOf(node, chance));
  const pods = podsOf(
    plan.pods,
    nodes.map((node) => node.name),
    chance,
  );
  return {
    row: {
      name: plan.name,
      provider: plan.provider,
      endpoint: plan.endpoint ?? `api.${plan.name}.orchard.example:6443`,
      scope: WHOLE,
      default: plan.default ?? false,
      registeredAt: ago(86_400 * (12 + chance.below(300))),
      state: 'fresh',
      observedAt: ago(4 + chance.below(20)),
      refreshing: false,
      error: null,
      version: plan.version ?? 'v1.34.2',
      nodes: nodes.length,
      nodesReady: nodes.filter((node) => node.ready === true).length,
      pods: pods.filter((pod) => pod.health !== 'done').length,
      units: sumUnits(nodes.flatMap((node) => node.pools.map((pool) => pool.units))),
      models: modelsOf(nodes),
      pendingUnits: plan.pending ?? 0,
      notes: [],
    },
    nodes,
    namespaces: namespaceRows(NAMESPACES),
    pods,
    failed: [],
  };
}

/** The same cluster, without numbers: nothing was ever read of it. */
export function unread(one: StoryCluster, state: ClusterRow['state'], error: AppError | null): StoryCluster {
  return {
    ...one,
    nodes: null,
    row: {
      ...one.row,
      state,
      error,
      observedAt: null,
      version: null,
      nodes: null,
      nodesReady: null,
      pods: null,
      units: UNKNOWN,
      models: [],
      pendingUnits: null,
      refreshing: state === 'loading',
    },
  };
}

export function unreachable(name: string): AppError {
  return appError(
    'unreachable',
    'cluster_unreachable',
    `${name} did not answer: the connection to api.${name}.orchard.example:6443 timed out after 5 seconds.`,
    'Check the VPN, then refresh. The other clusters are not affected.',
  );
}

/** A registration of two namespaces of a shared cluster. */
export function bounded(one: StoryCluster, names: string[]): StoryCluster {
  const none = unread(one, 'fresh', null);
  return {
    ...none,
    row: {
      ...none.row,
      scope: { kind: 'namespaces', names },
      observedAt: ago(9),
      version: 'v1.33.6',
      pods: 14,
    },
    namespaces: namespaceRows(names),
    pods: one.pods
      .slice(0, 14)
      .map((pod, index) => ({ ...pod, namespace: names[index % names.length] ?? '' })),
  };
}

function rack(prefix: string, number: number, cards: Card[], zone: string, loads: number[]): NodePlan[] {
  return Array.from({ length: number }, (_, index) => ({
    name: `${prefix}${String(index + 1).padStart(2, '0')}`,
    cards,
    zone,
    load: loads[index % loads.length] ?? 0,
  }));
}

export function lattice(pods = 64): StoryCluster {
  const nodes = [
    ...rack('gpu-a', 4, [CARDS.h100], 'eu-west-1a', [1, 1, 0.75, 0.5]),
    ...rack('gpu-b', 5, [CARDS.h100], 'eu-west-1b', [1, 0.25, 0.75, 0.5, 0.25]),
    ...rack('cpu-', 3, [], 'eu-west-1b', [0]),
  ].map((node): NodePlan => {
    if (node.name === 'gpu-a03') return { ...node, unhealthy: 1 };
    if (node.name === 'gpu-b02') return { ...node, cordoned: true };
    if (node.name === 'gpu-b04') return { ...node, lost: true };
    return node;
  });
  return cluster({ name: 'lattice', provider: 'eks', default: true, nodes, pods, pending: 24, seed: 7 });
}

export function meridian(): StoryCluster {
  return cluster({
    name: 'meridian',
    provider: 'gke',
    version: 'v1.33.6',
    nodes: [
      ...rack('mig-', 2, [CARDS.mig3g, CARDS.mig1g], 'us-east-2a', [0.4, 0.6]),
      ...rack('whole-', 2, [CARDS.h100], 'us-east-2b', [0.5, 0.625]),
      ...rack('sys-', 1, [], 'us-east-2a', [0]),
    ],
    pods: 41,
    seed: 11,
  });
}

export function basalt(): StoryCluster {
  const nodes = rack('mi300-', 3, [CARDS.mi300x], 'fra1', [0.5, 0.5, 0.625]);
  return cluster({
    name: 'basalt',
    provider: 'byo',
    endpoint: '10.60.12.4:6443',
    nodes: [...nodes, ...rack('ctl-', 1, [], 'fra1', [0])],
    pods: 22,
    seed: 13,
  });
}

export function plaza(): StoryCluster {
  return cluster({
    name: 'plaza',
    provider: 'byo',
    endpoint: '10.60.2.10:6443',
    version: 'v1.32.10',
    nodes: rack('web-', 6, [], 'fra1', [0]),
    pods: 88,
    seed: 17,
  });
}

export function quarry(): StoryCluster {
  return cluster({
    name: 'quarry',
    provider: 'coreweave',
    nodes: rack('g', 16, [CARDS.h200], 'ord1', [1, 1, 1, 0.875, 1, 0.75, 1, 0]),
    pods: 130,
    pending: 0,
    seed: 19,
  });
}

/** A cluster of any size, for the limits. */
export function vast(nodes: number, pods: number): StoryCluster {
  return cluster({
    name: 'vast',
    provider: 'byo',
    nodes: rack('n', nodes, [CARDS.h100], 'eu-north-1a', [1, 0.75, 1, 0.5, 1, 1, 0.25, 1]),
    pods,
    pending: 64,
    seed: 23,
  });
}
