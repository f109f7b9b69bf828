/** Nodes of a story, and the sums over them. */
import type { HolderView, ModelCount, NodeView, PoolView, UnitCounts } from '../bindings';
import { ago, type Chance } from './chance';
import type { Card } from './cards';

export interface NodePlan {
  name: string;
  cards: Card[];
  zone: string;
  instanceType?: string;
  unhealthy?: number;
  cordoned?: boolean;
  lost?: boolean;
  problems?: string[];
  /** Share of the units that are held, 0 to 1. */
  load: number;
}

const HOLDERS: readonly [[string, string], ...[string, string][]] = [
  ['training', 'aurora-pretrain'],
  ['training', 'rlhf-rollout'],
  ['inference', 'chat-70b'],
  ['inference', 'embeddings'],
  ['research', 'notebook-mira'],
];

function holders(card: Card, held: number, chance: Chance): HolderView[] {
  const found: HolderView[] = [];
  for (let left = held; left > 0;) {
    const units = Math.min(left, chance.pick([1, 2, 4, 8]));
    const [namespace, owner] = chance.pick(HOLDERS);
    found.push({
      namespace,
      pod: `${owner}-${chance.suffix(5)}`,
      resource: card.resource,
      units,
      since: ago(600 + chance.below(400_000)),
    });
    left -= units;
  }
  return found;
}

export function nodeOf(plan: NodePlan, chance: Chance): NodeView {
  const pools: PoolView[] = [];
  const held: HolderView[] = [];
  for (const card of plan.cards) {
    const allocatable = card.units - (plan.unhealthy ?? 0);
    const requested = Math.round(allocatable * plan.load);
    const free = allocatable - requested;
    pools.push({
      vendor: card.vendor,
      kind: card.kind,
      resource: card.resource,
      source: card.source,
      model: card.model,
      memoryMib: card.memoryMib,
      capacity: card.units,
      units: {
        cards: card.cards,
        allocatable,
        requested,
        free,
        usableFree: plan.cordoned || plan.lost ? 0 : free,
      },
    });
    held.push(...holders(card, requested, chance));
  }
  const problems = [...(plan.problems ?? [])];
  if (plan.lost) problems.push('The kubelet stopped reporting 14 minutes ago.');
  if (plan.unhealthy)
    problems.push(`The device plugin took ${plan.unhealthy} of ${plan.cards[0]?.units ?? 0} cards out.`);
  return {
    name: plan.name,
    ready: plan.lost ? null : true,
    schedulable: !plan.cordoned,
    roles: plan.cards.length === 0 ? ['control-plane'] : [],
    version: 'v1.34.2',
    instanceType: plan.instanceType ?? (plan.cards.length === 0 ? 'm7i.4xlarge' : 'p5.48xlarge'),
    region: plan.zone.replace(/[a-z]$/u, ''),
    zone: plan.zone,
    internalIp: `10.4.${chance.below(200)}.${chance.below(250) + 2}`,
    cpuMilli: plan.cards.length === 0 ? 15_890 : 191_450,
    memoryMib: plan.cards.length === 0 ? 61_950 : 2_063_400,
    created: ago(86_400 * (20 + chance.below(200))),
    problems,
    pools,
    holders: held,
  };
}

const NONE: UnitCounts = { cards: 0, allocatable: 0, requested: 0, free: 0, usableFree: 0 };

function plus(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

export function addUnits(a: UnitCounts, b: UnitCounts): UnitCounts {
  return {
    cards: plus(a.cards, b.cards),
    allocatable: plus(a.allocatable, b.allocatable),
    requested: plus(a.requested, b.requested),
    free: plus(a.free, b.free),
    usableFree: plus(a.usableFree, b.usableFree),
  };
}

export function sumUnits(all: readonly UnitCounts[]): UnitCounts {
  return all.reduce(addUnits, NONE);
}

/** Sums by model and resource, largest first. */
export function sumModels(all: readonly ModelCount[]): ModelCount[] {
  const sums = new Map<string, ModelCount>();
  for (const one of all) {
    const key = `${one.model}/${one.resource}`;
    const sum = sums.get(key);
    sums.set(key, sum ? { ...sum, units: addUnits(sum.units, one.units) } : { ...one });
  }
  return [...sums.values()].sort((a, b) => (b.units.allocatable ?? 0) - (a.units.allocatable ?? 0));
}

export function modelsOf(nodes: readonly NodeView[]): ModelCount[] {
  return sumModels(
    nodes.flatMap((node) =>
      node.pools.map((pool) => ({
        model: pool.model ?? pool.resource,
        vendor: pool.vendor,
        kind: pool.kind,
        resource: pool.resource,
        memoryMib: pool.memoryMib,
        units: pool.units,
      })),
    ),
  );
}
