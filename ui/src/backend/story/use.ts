/** Live use of a story's cluster: eight nodes of eight cards, one of them out of reach. */
import type { CardUseRow, LiveUse } from '../bindings';
import { ago } from './chance';

const HOLDERS = [
  'training/aurora-pretrain-x7d2k',
  'inference/chat-70b-6f9c-k2v8p',
  'research/notebook-mira-0',
];

function card(node: string, index: number): CardUseRow {
  const [namespace = '', pod = ''] = (HOLDERS[(index + node.length) % HOLDERS.length] ?? '/').split('/');
  const free = index === 6;
  const idle = !free && namespace === 'research';
  const busy = free || idle ? 0 : 61 + ((index * 17 + node.charCodeAt(node.length - 1) * 7) % 38);
  return {
    node,
    id: `GPU-${node}-${index}`,
    index: String(index),
    model: 'NVIDIA H100 80GB HBM3',
    instance: null,
    holders: free ? [] : [{ namespace, pod }],
    held: !free,
    idle,
    busy: index === 5 && node.endsWith('4') ? null : busy,
    peak: busy,
    memoryUsedMib: free ? 4 : 30_000 + busy * 480,
    memoryTotalMib: 81_559,
    powerWatts: 72 + busy * 6,
    temperatureCelsius: 29 + busy * 0.38,
    xid: index === 7 && node.endsWith('3') ? 94 : 0,
    healthy: null,
  };
}

export function liveUse(cluster: string, source: string): LiveUse {
  const nodes = Array.from({ length: 8 }, (_, at) => `gpu-a0${at + 1}`);
  const cards = nodes.flatMap((node) => Array.from({ length: 8 }, (_, index) => card(node, index)));
  const loads = cards.flatMap((one) => (one.busy === null ? [] : [one.busy]));
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
  const isPrometheus = source.startsWith('monitoring/');
  return {
    cluster,
    source: { id: source, kind: isPrometheus ? 'prometheus' : 'dcgm-exporter' },
    observedAt: ago(0),
    peakMinutes: isPrometheus ? 15 : null,
    nodesRead: isPrometheus ? null : 8,
    nodesTotal: isPrometheus ? null : 9,
    unread: isPrometheus
      ? []
      : [
          {
            node: 'gpu-b04',
            error: {
              code: 'server',
              kind: 'unreachable',
              message: 'lattice.example:6443 failed with status 503: error trying to reach service.',
              hint: 'Try again a little later.',
              retryable: true,
            },
          },
        ],
    totals: {
      cards: cards.length,
      measured: loads.length,
      meanBusy: sum(loads) / loads.length,
      held: cards.filter((one) => one.held).length,
      idle: cards.filter((one) => one.idle).length,
      idleUnknown: cards.length - loads.length,
      faulty: cards.filter((one) => one.xid !== 0).length,
      powerWatts: sum(cards.map((one) => one.powerWatts ?? 0)),
    },
    cards,
  };
}
