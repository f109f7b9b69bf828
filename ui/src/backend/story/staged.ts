/** Staged files of a story, with the verdicts that people meet. */
import type { ProbePreview, RefusalView, StagedContext, StagedFile } from '../bindings';
import { CARDS } from './cards';
import { ago, ahead } from './chance';

function context(name: string, change: Partial<StagedContext> = {}): StagedContext {
  return {
    name,
    current: false,
    suggestedName: name,
    endpoint: `api.${name}.orchard.example:6443`,
    namespace: null,
    credential: 'token',
    expiresAt: null,
    provider: null,
    registeredAs: null,
    refusals: [],
    warnings: [],
    ...change,
  };
}

const EXEC: RefusalView = {
  code: 'exec_plugin',
  message:
    'The user gets its credential by running a program (“aws”). Muster never runs a program that a file names.',
  wayOut:
    'Make a ServiceAccount in the cluster that may read what Muster shows, and register its token. The command writes one for you; run it where kubectl already reaches the cluster.',
  command:
    'kubectl create serviceaccount muster -n kube-system\nkubectl create clusterrolebinding muster-view --clusterrole=view --serviceaccount=kube-system:muster\nkubectl create token muster -n kube-system --duration=8760h',
};

const EXPIRED: RefusalView = {
  code: 'credential_expired',
  message: `The client certificate expired on ${ago(86_400 * 12).slice(0, 10)}.`,
  wayOut: 'Ask the cluster’s administrator for a new certificate, or register a ServiceAccount token.',
  command: null,
};

const INSECURE: RefusalView = {
  code: 'insecure_tls',
  message: 'The cluster entry switches TLS verification off (insecure-skip-tls-verify).',
  wayOut: 'Put the cluster’s certificate authority into the file and remove the setting.',
  command: 'kubectl config set-cluster shed --certificate-authority=ca.crt --embed-certs=true',
};

export const MIXED: StagedFile[] = [
  {
    id: 'f1',
    fileName: 'granite.kubeconfig',
    size: 5_812,
    refusal: null,
    contexts: [
      context('granite-admin@granite', {
        current: true,
        suggestedName: 'granite',
        endpoint: 'api.granite.orchard.example:6443',
        credential: 'client certificate',
        expiresAt: ahead(86_400 * 210),
        provider: 'eks',
      }),
    ],
  },
  {
    id: 'f2',
    fileName: 'team-platform-europe.yaml',
    size: 18_233,
    refusal: null,
    contexts: [
      context('arn:aws:eks:eu-central-1:481516234200:cluster/orchard-production-inference-large', {
        suggestedName: 'orchard-production-inference-large',
        endpoint: '0A1B2C3D4E5F60718293A4B5C6D7E8F9.gr7.eu-central-1.eks.amazonaws.com:443',
        credential: null,
        provider: 'eks',
        refusals: [EXEC],
      }),
      context('lattice', {
        registeredAs: 'lattice',
        expiresAt: ahead(86_400 * 9),
        warnings: [
          {
            code: 'expires_soon',
            severity: 'warning',
            subject: null,
            text: 'The token expires in 9 days. Whoever uses the fleet loses this cluster then.',
          },
        ],
      }),
      context('commons-dev', {
        suggestedName: 'commons',
        namespace: 'orchard-dev',
        endpoint: 'shared.cluster.example:6443',
        provider: 'gke',
      }),
      context('shed', {
        refusals: [INSECURE, EXPIRED],
        credential: 'client certificate',
        endpoint: '192.168.7.20:6443',
      }),
    ],
  },
  {
    id: 'f3',
    fileName: 'holiday-photo.jpg',
    size: 913_004,
    refusal: {
      code: 'not_a_kubeconfig',
      message: 'This is not a kubeconfig: it is a picture (JPEG).',
      wayOut: 'Drop the file that kubectl uses, usually ~/.kube/config, or a copy of it.',
      command: null,
    },
    contexts: [],
  },
];

export const MANY: StagedFile[] = [
  {
    id: 'm1',
    fileName: 'config',
    size: 96_114,
    refusal: null,
    contexts: Array.from({ length: 34 }, (_, index) =>
      context(`site-${String(index + 1).padStart(2, '0')}`, index % 7 === 3 ? { refusals: [EXEC] } : {}),
    ),
  },
];

export function preview(): ProbePreview {
  const units = { cards: 32, allocatable: 32, requested: 19, free: 13, usableFree: 13 };
  return {
    version: 'v1.34.1',
    tookMs: 412,
    nodes: 6,
    units,
    models: [{ ...CARDS.h100, units }],
    permissions: [
      { what: 'list nodes', allowed: true, enables: 'nodes and their accelerators' },
      { what: 'list pods in every namespace', allowed: true, enables: 'who holds what, and what is free' },
      { what: 'list namespaces', allowed: true, enables: 'the namespace screen' },
      {
        what: 'list resource slices',
        allowed: false,
        enables: 'accelerators that are handed out by claims (DRA)',
      },
      { what: 'get pod logs', allowed: null, enables: 'logs' },
    ],
    notes: [
      {
        code: 'dra_forbidden',
        severity: 'warning',
        subject: null,
        text: 'Accelerators that are handed out by claims would not be counted.',
      },
    ],
  };
}

/** The preview of a registration that is bound to namespaces. */
export function boundedPreview(): ProbePreview {
  return {
    ...preview(),
    nodes: null,
    units: { cards: null, allocatable: null, requested: null, free: null, usableFree: null },
    models: [],
    permissions: [
      { what: 'list pods in orchard-dev', allowed: true, enables: 'the pods of that namespace' },
      { what: 'list nodes', allowed: false, enables: 'nodes and accelerators (not offered for a bound)' },
    ],
    notes: [],
  };
}
