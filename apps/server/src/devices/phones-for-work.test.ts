import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { glob } from 'node:fs/promises';
import { expect, it } from 'vitest';

const sources = path.join(import.meta.dirname, '..');

/** Calls that also tell of what a user has not accepted, and who may make them: for people who look, or by an ID. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  'listSeen(': [
    'devices/device-access.ts', // the list itself, and how many phones wait
    'devices/routes.ts', // the list of phones
  ],
  'listOwners(': ['devices/device-access.ts', 'devices/device-shares.ts', 'devices/hosts/host-list.ts'],
  'roleOf(': [
    'devices/device-access.ts',
    'devices/device-shares.ts',
    'devices/hosts/host-list.ts',
    'devices/leases/leases.ts', // of one phone
    'events/event-feed.ts', // the view of one user
    'jobs/job-runner.ts', // of jobs that name the phone
    'live/feature.ts', // of one phone
  ],
  'usersOf(': ['devices/device-shares.ts', 'runs/run-access.ts'],
  'listReaders(': ['runs/run-access.ts'],
  'listReviewers(': [
    'records/access-store.ts',
    'records/groups/routes.ts', // of one user
  ],
  'people.of(': ['launches/routes.ts', 'runs/run-access.ts'],
  // Values for looking for them on the server; hosts get those of `SecretGrants`.
  'secretsOf(': ['launches/project-launches.ts', 'secrets/secret-grants.ts'],
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
