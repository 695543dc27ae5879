import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, globSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

import { unpackPackages } from './unpack-packages.ts';

interface TestComponent {
  readonly name: string;
  readonly isHere: () => boolean;
  readonly debianPackages: readonly string[];
  /** What there is to do when the packages are here. */
  readonly build?: () => Promise<void>;
  readonly untested: string;
}

/** The first of these programs in PATH is taken. */
const inPath =
  (...programs: readonly string[]) =>
  (): boolean => {
    const folders = (process.env['PATH'] ?? '').split(delimiter);
    return folders.some((folder) => programs.some((program) => isExecutable(join(folder, program))));
  };

const ADBD_SOURCES = join(import.meta.dirname, '../packages/simulated-phone/src/testing/real-adbd');
/** The file system of a phone with Debian's adbd, for tests. Of other sources it is another one. */
const ADBD_ROOT = join(
  import.meta.dirname,
  `../node_modules/.cache/phalanx-adbd-${hashOf('build-root.sh', 'sh.c', 'properties.cpp')}`,
);

/** Ceph's S3 server with the packages that it needs, for tests. */
const S3_ROOT = join(import.meta.dirname, '../node_modules/.cache/phalanx-radosgw');

const COMPONENTS: readonly TestComponent[] = [
  {
    name: 'git',
    isHere: inPath('git'),
    debianPackages: ['git'],
    untested: 'projects: files, commits, clone and push',
  },
  {
    name: 'adb',
    isHere: inPath('adb'),
    debianPackages: ['adb'],
    untested: "phones behind a real adb server, as Google's own tool speaks to them",
  },
  {
    name: 'chromium',
    isHere: inPath('chromium', 'chromium-browser', 'google-chrome'),
    debianPackages: ['chromium'],
    untested: 'the console, as people use it in a browser',
  },
  {
    name: 'postgresql',
    isHere: () => globSync('/usr/lib/postgresql/*/bin/postgres').length > 0,
    debianPackages: ['postgresql'],
    untested: 'the service on PostgreSQL instead of SQLite',
  },
  {
    name: 'nats-server',
    isHere: inPath('nats-server'),
    debianPackages: ['nats-server'],
    untested: 'several servers that work together',
  },
  {
    name: 'docker-compose',
    isHere: inPath('docker-compose'),
    debianPackages: ['docker-compose'],
    untested: 'deploy/compose.yaml and deploy/compose.cluster.yaml',
  },
  {
    name: 'systemd-analyze',
    isHere: inPath('systemd-analyze'),
    debianPackages: ['systemd'],
    untested: 'deploy/systemd',
  },
  {
    name: 'adbd',
    isHere: () => existsSync(ADBD_ROOT) && canEnterNamespaces(),
    debianPackages: ['gcc', 'g++', 'iproute2'],
    build: async () =>
      void (await promisify(execFile)(join(ADBD_SOURCES, 'build-root.sh'), [ADBD_ROOT], {
        timeout: APT_TIME_LIMIT_MS,
      })),
    untested: "phones whose adbd is real (Debian's, in namespaces of its own, which takes root)",
  },
  {
    name: 'radosgw',
    isHere: () => existsSync(S3_ROOT),
    debianPackages: ['python3'],
    build: () => unpackPackages(['radosgw', 'ceph-mon', 'ceph-osd'], S3_ROOT),
    untested: "captures and large packs in S3 (Ceph's server, unpacked from packages of Debian)",
  },
];

const APT_GET = '/usr/bin/apt-get';
const APT_TIME_LIMIT_MS = 300_000;

/** Where the file system of a phone with a real adbd is; undefined without one. */
export const findAdbdRoot = (missing: readonly TestComponent[]): string | undefined =>
  missing.some(({ name }) => name === 'adbd') ? undefined : ADBD_ROOT;

/** The same, of a machine that is taken as it is. */
export const foundAdbdRoot = (): string | undefined => findAdbdRoot(COMPONENTS.filter(isMissing));

/** Where the programs of an S3 server are; undefined without them. */
export const findS3Root = (missing: readonly TestComponent[]): string | undefined =>
  missing.some(({ name }) => name === 'radosgw') ? undefined : S3_ROOT;

/** Installs what is missing where that needs no question (root on Debian), and tells what is missing still. */
export async function prepareComponents(): Promise<readonly TestComponent[]> {
  const missing = COMPONENTS.filter(isMissing);
  if (missing.length === 0 || process.getuid?.() !== 0 || !isExecutable(APT_GET)) return missing;
  await installWithApt(missing.flatMap((component) => component.debianPackages));
  for (const component of missing) await component.build?.().catch(tellFailure);
  return missing.filter(isMissing);
}

export function describeMissing(missing: readonly TestComponent[]): string {
  const packages = missing.flatMap((component) => component.debianPackages).join(' ');
  return [
    '!!! NOT EVERYTHING WAS TESTED',
    ...missing.map(({ name, untested }) => `!!! ${name} is not here. Not tested: ${untested}.`),
    `!!! To test it: apt-get install --no-install-recommends ${packages}   (then npm test again)`,
  ].join('\n');
}

/** In CI nobody reads a warning: there a missing component fails the run. */
export function isFatal(missing: readonly TestComponent[]): boolean {
  return missing.length > 0 && ['true', '1'].includes(process.env['CI'] ?? '');
}

async function installWithApt(packages: readonly string[]): Promise<void> {
  console.error(`npm test: installing what the tests need: apt-get install ${packages.join(' ')} ...`);
  const options = { timeout: APT_TIME_LIMIT_MS, env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } };
  try {
    await promisify(execFile)(APT_GET, ['update'], options);
    await promisify(execFile)(APT_GET, ['install', '-y', '--no-install-recommends', ...packages], options);
  } catch (error) {
    tellFailure(error);
  }
}

function tellFailure(error: unknown): void {
  console.error(
    `npm test: the installation failed.\n${error instanceof Error ? error.message : String(error)}`,
  );
}

function hashOf(...names: readonly string[]): string {
  const hash = createHash('sha256');
  for (const name of names) hash.update(readFileSync(join(ADBD_SOURCES, name)));
  return hash.digest('hex').slice(0, 12);
}

function canEnterNamespaces(): boolean {
  return spawnSync('unshare', ['--mount', '--net', '--pid', '--fork', 'true']).status === 0;
}

function isMissing({ isHere }: TestComponent): boolean {
  return !isHere();
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
