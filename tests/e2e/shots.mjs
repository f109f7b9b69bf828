// What is looked at: a story, an address, and what a person did there.
const button = (page, name) => page.getByRole('button', { name });

export const SHOTS = [
  { name: 'sign-in', story: 'signed-out' },
  { name: 'sign-in-first-run', story: 'first-run' },
  { name: 'sign-in-ended', story: 'signed-out-ended' },
  { name: 'sign-in-broken', story: 'deployments-broken' },
  { name: 'sign-in-preparing', story: 'preparing' },
  { name: 'sign-in-waiting', story: 'waiting' },
  { name: 'sign-in-waiting-note', story: 'waiting-note' },
  { name: 'sign-in-choose-org', story: 'choose-org' },
  { name: 'fleet', story: 'fleet-full' },
  { name: 'fleet-demo', story: 'fleet-demo' },
  { name: 'fleet-states', story: 'fleet-states' },
  { name: 'fleet-loading', story: 'fleet-loading' },
  { name: 'fleet-first-reading', story: 'fleet-first-reading' },
  { name: 'fleet-empty', story: 'fleet-empty' },
  { name: 'fleet-read-only', story: 'fleet-read-only' },
  { name: 'fleet-failing', story: 'fleet-failing' },
  { name: 'fleet-stale', story: 'fleet-stale' },
  { name: 'fleet-hundreds', story: 'fleet-hundreds' },
  { name: 'fleet-no-match', story: 'fleet-full', address: '#/fleet?q=granite' },
  {
    name: 'fleet-dragging',
    story: 'fleet-full',
    steps: (page) => page.evaluate(() => window.story.tell({ type: 'dragging', data: true })),
  },
  {
    name: 'fleet-session-menu',
    story: 'fleet-full',
    steps: (page) => button(page, /session menu/).click(),
  },
  { name: 'keys', story: 'fleet-full', steps: (page) => page.keyboard.press('?') },
  { name: 'register-empty', story: 'fleet-full', address: '#/register' },
  { name: 'register', story: 'staged', address: '#/register' },
  {
    name: 'register-checked',
    story: 'staged',
    address: '#/register',
    steps: async (page) => {
      await page.getByText('The whole cluster', { exact: true }).click();
      await button(page, 'Check the cluster').click();
      await page.getByText('It answered in').waitFor();
    },
  },
  {
    name: 'register-bound',
    story: 'staged',
    address: '#/register/f2/commons-dev',
    steps: async (page) => {
      await page.getByText('These namespaces only', { exact: true }).click();
      await button(page, 'Check the cluster').click();
      await page.getByText('It answered in').waitFor();
    },
  },
  {
    name: 'register-refused',
    story: 'staged',
    address:
      '#/register/f2/' +
      encodeURIComponent('arn:aws:eks:eu-central-1:481516234200:cluster/orchard-production-inference-large'),
  },
  { name: 'register-refused-twice', story: 'staged', address: '#/register/f2/shed' },
  { name: 'register-rotates', story: 'staged', address: '#/register/f2/lattice' },
  { name: 'register-no-kubeconfig', story: 'staged', address: '#/register/f3/-' },
  { name: 'register-many', story: 'staged-many', address: '#/register' },
  {
    name: 'register-progress',
    story: 'staged',
    address: '#/register',
    steps: async (page) => {
      await page.getByText('The whole cluster', { exact: true }).click();
      await button(page, 'Register').last().click();
      await page.waitForTimeout(600);
    },
  },
  {
    name: 'register-done',
    story: 'staged',
    address: '#/register',
    steps: async (page) => {
      await page.getByText('The whole cluster', { exact: true }).click();
      await button(page, 'Register').last().click();
      await page.getByText('granite is registered').waitFor();
    },
  },
  {
    name: 'register-fails',
    story: 'staged-register-fails',
    address: '#/register',
    steps: async (page) => {
      await page.getByText('The whole cluster', { exact: true }).click();
      await button(page, 'Register').last().click();
      await page.getByText('It was not registered').waitFor();
    },
  },
  {
    name: 'register-check-fails',
    story: 'staged-probe-fails',
    address: '#/register',
    steps: async (page) => {
      await page.getByText('The whole cluster', { exact: true }).click();
      await button(page, 'Check the cluster').click();
      await page.getByText('The check failed').waitFor();
    },
  },
  { name: 'cluster', story: 'fleet-full', address: '#/clusters/lattice' },
  { name: 'cluster-mig', story: 'fleet-full', address: '#/clusters/meridian' },
  { name: 'cluster-node', story: 'fleet-full', address: '#/clusters/lattice?node=gpu-a03' },
  { name: 'cluster-bounded', story: 'fleet-full', address: '#/clusters/commons' },
  { name: 'cluster-unreachable', story: 'fleet-full', address: '#/clusters/shale' },
  { name: 'cluster-stale', story: 'fleet-states', address: '#/clusters/basalt' },
  { name: 'cluster-partial', story: 'fleet-states', address: '#/clusters/meridian' },
  { name: 'cluster-forbidden', story: 'fleet-states', address: '#/clusters/flint' },
  { name: 'cluster-loading', story: 'fleet-loading', address: '#/clusters/lattice' },
  { name: 'cluster-failing', story: 'cluster-failing', address: '#/clusters/lattice' },
  { name: 'cluster-absent', story: 'fleet-full', address: '#/clusters/nobody' },
  {
    name: 'cluster-long-name',
    story: 'fleet-states',
    address: '#/clusters/a-very-long-registration-name-that-somebody-really-did-choose-ok',
  },
  { name: 'cluster-vast', story: 'fleet-vast', address: '#/clusters/vast' },
  {
    name: 'cluster-deregister',
    story: 'fleet-full',
    address: '#/clusters/lattice',
    steps: async (page) => {
      await button(page, 'More for lattice').click();
      await page.getByRole('menuitem', { name: /Deregister/ }).click();
      await page.getByRole('dialog').waitFor();
    },
  },
  { name: 'pods', story: 'fleet-full', address: '#/clusters/lattice/pods' },
  { name: 'pods-one-namespace', story: 'fleet-full', address: '#/clusters/lattice/namespaces/inference' },
  { name: 'pods-none', story: 'fleet-full', address: '#/clusters/lattice/namespaces/default' },
  { name: 'pods-bounded', story: 'fleet-full', address: '#/clusters/commons/pods' },
  { name: 'pods-partial', story: 'namespaces-partial', address: '#/clusters/commons/pods' },
  { name: 'pods-out-of-bound', story: 'fleet-full', address: '#/clusters/commons/namespaces/kube-system' },
  { name: 'pods-failing', story: 'pods-failing', address: '#/clusters/lattice/pods' },
  { name: 'pods-loading', story: 'fleet-loading', address: '#/clusters/lattice/pods' },
  { name: 'pods-vast', story: 'fleet-vast', address: '#/clusters/vast/pods' },
  { name: 'nowhere', story: 'fleet-full', address: '#/nowhere/at/all' },
  { name: 'live-use-off', story: 'fleet-full', address: '#/clusters/lattice/use' },
  {
    name: 'live-use-sources',
    story: 'fleet-full',
    address: '#/clusters/lattice/use',
    steps: (page) => button(page, 'Look for sources').click(),
  },
  {
    name: 'live-use',
    story: 'fleet-full',
    address: '#/clusters/lattice/use',
    steps: async (page) => {
      await button(page, 'Look for sources').click();
      await button(page, 'Read from it').first().click();
      await page.getByText('mean use').waitFor();
    },
  },
  {
    name: 'live-use-exporters',
    story: 'fleet-full',
    address: '#/clusters/lattice/use?group=idle',
    steps: async (page) => {
      // The shot before switched it on.
      await button(page, 'Switch off').click();
      await button(page, 'Look for sources').click();
      await button(page, 'Read from it').last().click();
      await page.getByText('mean use').waitFor();
    },
  },
];
