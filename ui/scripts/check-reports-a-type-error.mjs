// Proves that `npm run check` can fail: the checker must find the error that checks/seeded-type-error carries.
// A checker that silently stopped reading the files would pass everything.
import { spawnSync } from 'node:child_process';

const run = spawnSync(
  process.execPath,
  [
    'node_modules/svelte-check/bin/svelte-check',
    '--workspace',
    'checks/seeded-type-error',
    '--tsconfig',
    'tsconfig.json',
    '--output',
    'machine',
  ],
  { encoding: 'utf8' },
);

const found = run.status !== 0 && /ERROR .*Seeded\.svelte.*not assignable to type 'number'/.test(run.stdout);
if (!found) {
  console.error('svelte-check did not report the seeded type error, so its silence means nothing.');
  console.error(run.stdout, run.stderr);
  process.exit(1);
}
process.stdout.write('svelte-check reports a seeded type error, as it must.\n');
