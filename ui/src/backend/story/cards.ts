/** What a node of a story may carry. */
export interface Card {
  model: string;
  vendor: string;
  kind: string;
  resource: string;
  memoryMib: number;
  /** Units on one node. */
  units: number;
  /** Physical cards on one node; `null` where units do not tell. */
  cards: number | null;
  source: 'device-plugin' | 'dra';
}

export const CARDS = {
  h100: {
    model: 'H100',
    vendor: 'nvidia',
    kind: 'gpu',
    resource: 'nvidia.com/gpu',
    memoryMib: 81_559,
    units: 8,
    cards: 8,
    source: 'device-plugin',
  },
  h200: {
    model: 'H200',
    vendor: 'nvidia',
    kind: 'gpu',
    resource: 'gpu.nvidia.com',
    memoryMib: 143_771,
    units: 8,
    cards: 8,
    source: 'dra',
  },
  mig3g: {
    model: 'H100 3g.40gb',
    vendor: 'nvidia',
    kind: 'mig',
    resource: 'nvidia.com/mig-3g.40gb',
    memoryMib: 40_320,
    units: 8,
    cards: 4,
    source: 'device-plugin',
  },
  mig1g: {
    model: 'H100 1g.10gb',
    vendor: 'nvidia',
    kind: 'mig',
    resource: 'nvidia.com/mig-1g.10gb',
    memoryMib: 9_984,
    units: 28,
    cards: 4,
    source: 'device-plugin',
  },
  mi300x: {
    model: 'MI300X',
    vendor: 'amd',
    kind: 'gpu',
    resource: 'amd.com/gpu',
    memoryMib: 196_608,
    units: 8,
    cards: 8,
    source: 'device-plugin',
  },
  l40s: {
    model: 'L40S',
    vendor: 'nvidia',
    kind: 'gpu',
    resource: 'nvidia.com/gpu',
    memoryMib: 46_068,
    units: 4,
    cards: 4,
    source: 'device-plugin',
  },
} satisfies Record<string, Card>;
