/** The named states that can be looked at: `/?story=<name>`. */
import type { AppError, DeploymentList, SessionView, StagedFile } from '../bindings';
import { ahead, ago } from './chance';
import {
  appError,
  basalt,
  bounded,
  cluster,
  lattice,
  meridian,
  plaza,
  quarry,
  unreachable,
  unread,
  vast,
  type StoryCluster,
} from './clusters';
import { CARDS } from './cards';
import type { CommandName } from '../backend';
import { MANY, MIXED } from './staged';

export interface World {
  session: SessionView;
  deployments: DeploymentList;
  clusters: StoryCluster[];
  indexError: AppError | null;
  pendingPurges: string[];
  readOnly: string | null;
  staged: StagedFile[];
  /** Commands that fail. */
  failing: Partial<Record<CommandName, AppError>>;
  /** Commands that never answer. */
  silent: CommandName[];
}

export const SIGNED_IN: SessionView = {
  state: 'signedIn',
  person: 'Ada Okonkwo',
  org: 'orchard',
  orgs: ['orchard', 'harvest-lab'],
  deployment: 'Orchard production',
  storage: 'keyring',
  demo: false,
};

export const DEMO: SessionView = {
  ...SIGNED_IN,
  orgs: ['orchard'],
  deployment: 'Demo fleet',
  storage: 'session-only',
  demo: true,
};

const DEPLOYMENTS: DeploymentList = {
  deployments: [
    {
      id: 'orchard',
      title: 'Orchard production',
      issuer: 'id.orchard.example',
      kms: 'vault.orchard.example:8200',
    },
    {
      id: 'staging',
      title: 'Orchard staging',
      issuer: 'id.staging.orchard.example',
      kms: 'bao.staging.example:8200',
    },
  ],
  broken: [],
  folder: '~/.config/muster/deployments',
};

const TIMEOUT = appError(
  'unreachable',
  'kms_unreachable',
  'The KMS at vault.orchard.example:8200 did not answer within 10 seconds.',
  'Check the VPN and that the KMS is unsealed. What was read before is kept on screen.',
);

function world(change: Partial<World> = {}): World {
  return {
    session: SIGNED_IN,
    deployments: DEPLOYMENTS,
    clusters: [],
    indexError: null,
    pendingPurges: [],
    readOnly: null,
    staged: [],
    failing: {},
    silent: [],
    ...change,
  };
}

function full(): StoryCluster[] {
  return [
    basalt(),
    bounded(cluster({ name: 'commons', provider: 'gke', nodes: [], pods: 20, seed: 3 }), [
      'orchard-dev',
      'orchard-ci',
    ]),
    lattice(),
    meridian(),
    plaza(),
    quarry(),
    unread(
      cluster({ name: 'shale', provider: 'aks', nodes: [], pods: 0, seed: 5 }),
      'unreachable',
      unreachable('shale'),
    ),
  ];
}

function everyState(): StoryCluster[] {
  const forbidden = appError(
    'forbidden',
    'nodes_forbidden',
    'The credential of flint may not list nodes.',
    'Give its ServiceAccount the role of docs/guide/roles, or register it again for its namespaces.',
  );
  const broken = appError(
    'failed',
    'answer_unreadable',
    'gravel answered /api/v1/nodes with a web page instead of JSON.',
    'A proxy in between is the usual cause. Open the address in a browser to see what it says.',
  );
  const old = basalt();
  const half = meridian();
  return [
    ...full().filter((one) => !['basalt', 'meridian'].includes(one.row.name)),
    { ...old, row: { ...old.row, state: 'stale', observedAt: ago(840), error: unreachable('basalt') } },
    {
      ...half,
      nodes: (half.nodes ?? []).map((node) => ({
        ...node,
        holders: [],
        pools: node.pools.map((pool) => ({
          ...pool,
          units: { ...pool.units, requested: null, free: null, usableFree: null },
        })),
      })),
      row: {
        ...half.row,
        state: 'partial',
        pendingUnits: null,
        units: { ...half.row.units, requested: null, free: null, usableFree: null },
        models: half.row.models.map((model) => ({
          ...model,
          units: { ...model.units, requested: null, free: null, usableFree: null },
        })),
        notes: [
          {
            code: 'pods_forbidden',
            severity: 'warning',
            subject: null,
            text: 'The credential may not list pods, so nobody knows which units are held.',
          },
        ],
      },
    },
    unread(cluster({ name: 'flint', provider: 'eks', nodes: [], pods: 0, seed: 1 }), 'forbidden', forbidden),
    unread(cluster({ name: 'gravel', provider: 'byo', nodes: [], pods: 0, seed: 2 }), 'failed', broken),
    unread(cluster({ name: 'marl', provider: 'byo', nodes: [], pods: 0, seed: 4 }), 'loading', null),
    unread(cluster({ name: 'tuff', provider: 'byo', nodes: [], pods: 0, seed: 6 }), 'idle', null),
    cluster({
      name: 'a-very-long-registration-name-that-somebody-really-did-choose-ok',
      provider: 'oracle-cloud-infrastructure',
      endpoint: 'a-very-long-host-name-of-a-load-balancer-0123456789abcdef.eu-frankfurt-1.example:6443',
      nodes: [{ name: 'n1', cards: [CARDS.l40s], zone: 'eu-frankfurt-1a', load: 1 }],
      pods: 4,
      seed: 9,
    }),
  ];
}

function hundreds(): StoryCluster[] {
  return Array.from({ length: 240 }, (_, index) =>
    cluster({
      name: `site-${String(index + 1).padStart(3, '0')}`,
      provider: ['eks', 'gke', 'aks', 'byo'][index % 4] ?? 'byo',
      nodes: [
        {
          name: 'n1',
          cards: [index % 2 ? CARDS.h100 : CARDS.l40s],
          zone: 'eu-west-1a',
          load: (index % 5) / 4,
        },
        { name: 'n2', cards: [], zone: 'eu-west-1a', load: 0 },
      ],
      pods: 3,
      seed: index + 100,
    }),
  );
}

const EXPIRED = appError(
  'signed-out',
  'session_ended',
  'The session ended: the identity provider no longer accepts it.',
  'Sign in again to go on.',
);

export const SCENARIOS: Record<string, () => World> = {
  'signed-out': () => world({ session: { state: 'signedOut', reason: null } }),
  'signed-out-ended': () => world({ session: { state: 'signedOut', reason: EXPIRED } }),
  'first-run': () =>
    world({
      session: { state: 'signedOut', reason: null },
      deployments: { ...DEPLOYMENTS, deployments: [] },
    }),
  'deployments-broken': () =>
    world({
      session: { state: 'signedOut', reason: null },
      deployments: {
        ...DEPLOYMENTS,
        broken: [
          {
            file: 'orchard-lab.toml',
            error: appError(
              'refused',
              'deployment_unknown_key',
              'orchard-lab.toml, line 7: “client_secret” is no setting of Muster.',
              'Remove the line. Muster is a public client and needs no secret.',
            ),
          },
        ],
      },
    }),
  preparing: () => world({ session: { state: 'preparing', deployment: 'Orchard production' } }),
  waiting: () =>
    world({
      session: { state: 'waiting', deployment: 'Orchard production', deadline: ahead(284), note: null },
    }),
  'waiting-note': () =>
    world({
      session: {
        state: 'waiting',
        deployment: 'Orchard production',
        deadline: ahead(184),
        note: 'A sign-in page of an older attempt answered and was ignored. Use the newest page.',
      },
    }),
  exchanging: () => world({ session: { state: 'exchanging', deployment: 'Orchard production' } }),
  'choose-org': () =>
    world({
      session: {
        state: 'chooseOrg',
        person: 'Ada Okonkwo',
        orgs: ['orchard', 'harvest-lab', 'cider-research'],
      },
    }),
  'fleet-full': () => world({ clusters: full() }),
  'fleet-demo': () => world({ session: DEMO, clusters: full() }),
  'fleet-states': () => world({ clusters: everyState() }),
  'fleet-loading': () => world({ silent: ['fleet_get', 'cluster_get', 'namespaces_list', 'pods_list'] }),
  'fleet-first-reading': () => world({ clusters: full().map((one) => unread(one, 'loading', null)) }),
  'fleet-empty': () => world(),
  'fleet-read-only': () =>
    world({ readOnly: 'Your role in the KMS may read the registry and not write it.' }),
  'fleet-failing': () => world({ failing: { fleet_get: TIMEOUT, fleet_refresh: TIMEOUT } }),
  'fleet-stale': () =>
    world({
      clusters: full().map((one) => ({
        ...one,
        row: one.row.observedAt
          ? { ...one.row, state: 'stale', observedAt: ago(900), error: unreachable(one.row.name) }
          : one.row,
      })),
      indexError: TIMEOUT,
      pendingPurges: ['limestone'],
    }),
  'fleet-hundreds': () => world({ clusters: hundreds() }),
  'fleet-vast': () => world({ clusters: [vast(5000, 20_000)] }),
  staged: () => world({ clusters: full(), staged: MIXED }),
  'staged-many': () => world({ clusters: full(), staged: MANY }),
  'staged-probe-fails': () =>
    world({ clusters: full(), staged: MIXED, failing: { staged_probe: unreachable('granite') } }),
  'staged-register-fails': () =>
    world({ clusters: full(), staged: MIXED, failing: { staged_register: TIMEOUT } }),
  'namespaces-partial': () => {
    const clusters = full();
    for (const one of clusters) {
      if (one.row.name !== 'commons') continue;
      one.pods = one.pods.filter((pod) => pod.namespace === 'orchard-dev');
      one.failed = [
        {
          namespace: 'orchard-ci',
          error: appError(
            'forbidden',
            'pods_forbidden',
            'The credential of commons may not list pods in orchard-ci.',
            'Bind its ServiceAccount to a role in that namespace.',
          ),
        },
      ];
    }
    return world({ clusters });
  },
  'pods-failing': () => world({ clusters: full(), failing: { pods_list: unreachable('lattice') } }),
  'cluster-failing': () => world({ clusters: full(), failing: { cluster_get: unreachable('lattice') } }),
};
