/** Pods of a story: a plausible mixture, with the states that people look for. */
import type { PodRow } from '../bindings';
import { ago, type Chance } from './chance';

interface Plan {
  namespace: string;
  owner: string;
  kind: 'ReplicaSet' | 'StatefulSet' | 'Job' | 'DaemonSet';
  gpus?: string;
}

const PLANS: readonly [Plan, ...Plan[]] = [
  { namespace: 'training', owner: 'aurora-pretrain', kind: 'Job', gpus: 'nvidia.com/gpu × 8' },
  { namespace: 'training', owner: 'rlhf-rollout', kind: 'StatefulSet', gpus: 'nvidia.com/gpu × 4' },
  { namespace: 'inference', owner: 'chat-70b', kind: 'ReplicaSet', gpus: 'nvidia.com/gpu × 2' },
  { namespace: 'inference', owner: 'embeddings', kind: 'ReplicaSet', gpus: 'nvidia.com/gpu × 1' },
  { namespace: 'research', owner: 'notebook-mira', kind: 'StatefulSet', gpus: 'nvidia.com/gpu × 2' },
  { namespace: 'research', owner: 'eval-sweep', kind: 'Job', gpus: 'nvidia.com/gpu × 8' },
  { namespace: 'gpu-operator', owner: 'nvidia-device-plugin-daemonset', kind: 'DaemonSet' },
  { namespace: 'web', owner: 'console', kind: 'ReplicaSet' },
  { namespace: 'kube-system', owner: 'coredns', kind: 'ReplicaSet' },
  { namespace: 'monitoring', owner: 'prometheus-node-exporter', kind: 'DaemonSet' },
];

interface Health {
  status: string;
  health: string;
  share: number;
  ready: 0 | 1;
  restarts: number;
  reason: string | null;
}

const NO_ROOM = '0/12 nodes are available: 3 Insufficient cpu, 9 Insufficient nvidia.com/gpu.';

const HEALTH: readonly [Health, ...Health[]] = [
  { status: 'Running', health: 'good', share: 0.82, ready: 1, restarts: 0, reason: null },
  { status: 'Completed', health: 'done', share: 0.07, ready: 0, restarts: 0, reason: null },
  { status: 'Pending', health: 'waiting', share: 0.04, ready: 0, restarts: 0, reason: NO_ROOM },
  { status: 'ContainerCreating', health: 'waiting', share: 0.02, ready: 0, restarts: 0, reason: null },
  { status: 'Init:0/2', health: 'waiting', share: 0.01, ready: 0, restarts: 0, reason: null },
  {
    status: 'CrashLoopBackOff',
    health: 'bad',
    share: 0.02,
    ready: 0,
    restarts: 37,
    reason: 'back-off 5m0s restarting failed container=server',
  },
  {
    status: 'ImagePullBackOff',
    health: 'bad',
    share: 0.02,
    ready: 0,
    restarts: 0,
    reason: 'Back-off pulling image "registry.example/vision/speech:2026.11"',
  },
];

function healthOf(chance: Chance): Health {
  let at = chance.next();
  for (const one of HEALTH) {
    at -= one.share;
    if (at < 0) return one;
  }
  return HEALTH[0];
}

function podName(plan: Plan, index: number, chance: Chance): string {
  if (plan.kind === 'StatefulSet') return `${plan.owner}-${index}`;
  if (plan.kind === 'ReplicaSet') return `${plan.owner}-${chance.suffix(9)}-${chance.suffix(5)}`;
  return `${plan.owner}-${chance.suffix(5)}`;
}

export function podsOf(number: number, nodes: readonly string[], chance: Chance): PodRow[] {
  return Array.from({ length: number }, (_, index) => {
    const plan = chance.pick(PLANS);
    const state = healthOf(chance);
    const containers = chance.pick([1, 1, 1, 2, 3]);
    const placed = state.status !== 'Pending' && nodes.length > 0;
    return {
      namespace: plan.namespace,
      name: podName(plan, index, chance),
      status: state.status,
      health: state.health,
      ready: state.ready * containers,
      containers,
      restarts: state.restarts === 0 && chance.next() < 0.06 ? chance.below(5) + 1 : state.restarts,
      lastRestart: state.restarts > 0 ? ago(60 + chance.below(3000)) : null,
      node: placed ? (nodes[chance.below(nodes.length)] ?? null) : null,
      ip: placed ? `10.244.${chance.below(250)}.${chance.below(250) + 2}` : null,
      owner: `${plan.kind}/${plan.owner}`,
      created: ago(60 + chance.below(3_000_000)),
      accelerators: plan.gpus ? [plan.gpus] : [],
      reason: state.reason,
    };
  });
}
