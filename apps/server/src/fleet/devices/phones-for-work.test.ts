import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { glob } from 'node:fs/promises';
import { expect, it } from 'vitest';

const sources = path.join(import.meta.dirname, '../..');

/** Calls that also return what a user has not accepted, with the files that may use them: for display, or by ID. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  'listSeen(': [
    'fleet/devices/device-access.ts', // the list itself, and the number of waiting phones
    'fleet/devices/routes.ts', // the list of phones
  ],
  'listOwners(': [
    'fleet/devices/device-access.ts',
    'fleet/devices/device-shares.ts',
    'fleet/devices/hosts/host-list.ts',
  ],
  'roleOf(': [
    'fleet/devices/device-access.ts',
    'fleet/devices/device-shares.ts',
    'fleet/devices/hosts/host-list.ts',
    'fleet/devices/leases/leases.ts', // a single phone
    'runs/events/event-feed.ts', // the view of one user
    'work/jobs/job-runner.ts', // jobs that name the phone
    'control/live/routes.ts', // a single phone
  ],
  'usersOf(': ['fleet/devices/device-shares.ts', 'runs/runs/run-access.ts'],
  'listReaders(': ['runs/runs/run-access.ts'],
  'listReviewers(': [
    'evidence/records/access-store.ts',
    'evidence/records/groups/routes.ts', // a single user
  ],
  'people.of(': ['runs/launches/stop-on-devices.ts', 'runs/runs/run-access.ts'],
  // Values to search for on the server; hosts receive those of `SecretGrants`.
  'secretsOf(': ['runs/launches/launch-preparation.ts', 'code/secrets/secret-grants.ts'],
};

it('whatever works for a user takes the phones, people and secrets that were accepted', async () => {
  const found = new Map(Object.keys(allowed).map((call) => [call, new Set<string>()]));
  for await (const file of glob('**/*.ts', { cwd: sources })) {
    if (file.includes('.test.') || file.includes('testing/')) continue;
    const text = await readFile(path.join(sources, file), 'utf8');
    for (const [call, files] of found)
      if (new RegExp(`(?<![A-Za-z#])${call.replace('(', String.raw`\(`)}`).test(text)) files.add(file);
  }
  for (const [call, files] of found)
    expect([...files].toSorted(), `${call} lists what was not accepted`).toEqual(
      (allowed[call] ?? []).toSorted(),
    );
});
