/**
 * A backend in memory, for looking at every state and for the browser tests. It is in no production build.
 *
 * It behaves: what is registered appears, what is deregistered is gone, a refusal refuses. Errors come from the
 * scenario, or from inputs that no real cluster has.
 */
import { CallFailed, type Backend, type CommandName } from '../backend';
import type {
  AppError,
  AppEvent,
  ClusterRow,
  Commands,
  FleetView,
  RegisterRequest,
  ScopeView,
} from '../bindings';
import { ago, ahead } from './chance';
import { appError, cluster, lattice, type StoryCluster } from './clusters';
import { sumModels, sumUnits } from './nodes';
import { DEMO, SCENARIOS, SIGNED_IN, type World } from './scenarios';
import { boundedPreview, MIXED, preview } from './staged';
import { liveUse } from './use';

/** Long enough to see that something happens, in milliseconds. */
const STEP = 220;

function pause(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds));
}

function fail(error: AppError): never {
  throw new CallFailed(error);
}

function fleetOf(world: World): FleetView {
  const known = world.clusters.filter((one) => one.row.units.allocatable !== null);
  const counted = world.clusters.filter((one) => one.row.nodes !== null);
  return {
    org: 'orchard',
    indexObservedAt: ago(world.indexError ? 900 : 3),
    indexError: world.indexError,
    clusters: world.clusters.map((one) => one.row).sort((a, b) => a.name.localeCompare(b.name)),
    totals: {
      clusters: world.clusters.length,
      nodes: counted.length === 0 ? null : counted.reduce((sum, one) => sum + (one.row.nodes ?? 0), 0),
      units: sumUnits(known.filter((one) => one.row.units.requested !== null).map((one) => one.row.units)),
      models: sumModels(
        known.filter((one) => one.row.units.requested !== null).flatMap((one) => one.row.models),
      ),
      unknown: world.clusters
        .filter((one) => one.row.units.allocatable === null || one.row.units.requested === null)
        .map((one) => ({ name: one.row.name, state: one.row.state })),
    },
    pendingPurges: world.pendingPurges,
    readOnly: world.readOnly,
  };
}

export function storyBackend(name: string): Backend {
  const world = (SCENARIOS[name] ?? SCENARIOS['signed-out'])?.();
  if (!world) throw new Error(`there is no story ${name}`);
  const hearers = new Set<(event: AppEvent) => void>();
  const tell = (event: AppEvent) => {
    for (const hear of hearers) hear(event);
  };

  const find = (wanted: string): StoryCluster =>
    world.clusters.find((one) => one.row.name === wanted) ??
    fail(
      appError(
        'absent',
        'cluster_not_found',
        `No cluster “${wanted}” is registered in orchard.`,
        'Look at the fleet for the names.',
      ),
    );

  const inScope = (scope: ScopeView, namespace: string | null) =>
    namespace === null || scope.kind === 'wholeCluster' || scope.names.includes(namespace);

  async function register(request: RegisterRequest): Promise<ClusterRow> {
    for (const step of ['checking', 'probing', 'sealing', 'indexing'] as const) {
      tell({ type: 'register', data: { id: request.id, context: request.context, step } });
      await pause(STEP * 2);
      const error = world?.failing.staged_register;
      if (error && step === 'sealing') fail(error);
    }
    const made = cluster({
      name: request.name,
      provider: request.provider || 'byo',
      nodes: [],
      pods: 6,
      seed: 31,
    });
    made.row = { ...lattice().row, ...made.row, scope: request.scope, default: request.default };
    if (world) world.clusters = [...world.clusters.filter((one) => one.row.name !== request.name), made];
    if (world) tell({ type: 'fleet', data: fleetOf(world) });
    return made.row;
  }

  const answers: {
    [C in CommandName]: (
      request: Commands[C]['request'],
    ) => Commands[C]['response'] | Promise<Commands[C]['response']>;
  } = {
    app_info: () => ({ version: '0.1.0', os: 'linux' }),
    session_get: () => world.session,
    deployments_list: () => world.deployments,
    deployment_choose_file: () => world.deployments,
    deployment_remove: ({ deployment }) => {
      const kept = world.deployments.deployments.filter((one) => one.id !== deployment);
      return (world.deployments = { ...world.deployments, deployments: kept });
    },
    sign_in_start: ({ deployment }) => {
      const title = world.deployments.deployments.find((one) => one.id === deployment)?.title ?? deployment;
      return (world.session = { state: 'waiting', deployment: title, deadline: ahead(300), note: null });
    },
    sign_in_open_again: () => null,
    sign_in_copy_link: () => null,
    sign_in_cancel: () => (world.session = { state: 'signedOut', reason: null }),
    demo_start: async () => {
      tell({ type: 'session', data: { state: 'preparing', deployment: 'Demo fleet' } });
      await pause(STEP * 2);
      world.clusters = SCENARIOS['fleet-full']?.().clusters ?? [];
      return (world.session = DEMO);
    },
    org_choose: ({ org }) => (world.session = { ...SIGNED_IN, org } as typeof SIGNED_IN),
    sign_out: () => (world.session = { state: 'signedOut', reason: null }),
    fleet_get: () => fleetOf(world),
    fleet_refresh: async () => {
      await pause(STEP);
      for (const one of world.clusters) {
        if (one.row.state === 'fresh') one.row = { ...one.row, observedAt: ago(0) };
      }
      return fleetOf(world);
    },
    cluster_deregister: async ({ cluster: wanted, typedName }) => {
      await pause(STEP);
      const one = find(wanted);
      if (typedName !== one.row.name) {
        fail(appError('refused', 'name_mismatch', 'The typed name is not the name of the cluster.', null));
      }
      world.clusters = world.clusters.filter((other) => other !== one);
      tell({ type: 'fleet', data: fleetOf(world) });
      return { wasRegistered: true, purged: true };
    },
    purges_retry: async () => {
      await pause(STEP);
      world.pendingPurges = [];
      return fleetOf(world);
    },
    staged_list: () => world.staged,
    stage_choose_files: () => (world.staged = MIXED),
    stage_paste: () => {
      const first = MIXED[0];
      if (!first) return world.staged;
      return (world.staged = [...world.staged, { ...first, id: 'p1', fileName: 'clipboard' }]);
    },
    staged_discard: ({ id }) => (world.staged = world.staged.filter((file) => file.id !== id)),
    staged_probe: async ({ scope }) => {
      await pause(STEP * 3);
      return scope.kind === 'wholeCluster' ? preview() : boundedPreview();
    },
    staged_register: register,
    cluster_get: ({ cluster: wanted }) => {
      const one = find(wanted);
      return { cluster: one.row, nodes: one.nodes };
    },
    namespaces_list: ({ cluster: wanted }) => {
      const one = find(wanted);
      if (one.row.error) fail(one.row.error);
      return { cluster: wanted, scope: one.row.scope, namespaces: one.namespaces, observedAt: ago(2) };
    },
    pods_list: ({ cluster: wanted, namespace }) => {
      const one = find(wanted);
      if (one.row.error) fail(one.row.error);
      if (!inScope(one.row.scope, namespace)) {
        fail(
          appError(
            'refused',
            'namespace_out_of_bound',
            `${wanted} is registered for ${one.row.scope.kind === 'namespaces' ? one.row.scope.names.join(', ') : ''}; “${namespace ?? ''}” is not among them.`,
            'Choose one of its namespaces.',
          ),
        );
      }
      return {
        cluster: wanted,
        namespaces: namespace === null ? one.namespaces.map((row) => row.name) : [namespace],
        failed: one.failed.filter((row) => namespace === null || row.namespace === namespace),
        pods: one.pods.filter((pod) => namespace === null || pod.namespace === namespace),
        observedAt: ago(2),
      };
    },
    live_use_sources: ({ cluster: wanted }) => ({
      cluster: wanted,
      sources:
        find(wanted).row.models.length === 0
          ? []
          : [
              { id: 'monitoring/kube-prometheus-stack-prometheus:9090', kind: 'prometheus' },
              { id: 'gpu-operator/nvidia-dcgm-exporter:9400', kind: 'dcgm-exporter' },
            ],
    }),
    live_use_get: ({ cluster: wanted, source }) => liveUse(wanted, source),
  };

  // A way for a test to be the window: a drop and a drag cannot be made from inside a page.
  Object.assign(window, {
    story: {
      tell,
      drop: () => {
        world.staged = MIXED;
        tell({ type: 'dragging', data: false });
        tell({ type: 'staged', data: MIXED });
      },
    },
  });

  return {
    async call(command, request?: unknown) {
      await pause(0);
      if (world.silent.includes(command)) return new Promise(() => undefined);
      const error = world.failing[command];
      if (error && command !== 'staged_register') fail(error);
      return (await answers[command](request as never)) as never;
    },
    listen(handler) {
      hearers.add(handler);
      return () => hearers.delete(handler);
    },
  };
}
