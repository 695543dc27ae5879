import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

interface TestComponent {
  readonly name: string;
  /** The first of these programs in PATH is taken. */
  readonly programs: readonly string[];
  readonly debianPackage: string;
  readonly untested: string;
}

const COMPONENTS: readonly TestComponent[] = [
  {
    name: 'git',
    programs: ['git'],
    debianPackage: 'git',
    untested: 'projects: files, commits, clone and push',
  },
  {
    name: 'adb',
    programs: ['adb'],
    debianPackage: 'adb',
    untested: "phones behind a real adb server, as Google's own tool speaks to them",
  },
  {
    name: 'chromium',
    programs: ['chromium', 'chromium-browser', 'google-chrome'],
    debianPackage: 'chromium',
    untested: 'the console, as people use it in a browser',
  },
];

const APT_GET = '/usr/bin/apt-get';
const APT_TIME_LIMIT_MS = 300_000;

/** Installs what is missing where that needs no question (root on Debian), and tells what is missing still. */
export async function prepareComponents(): Promise<readonly TestComponent[]> {
  const missing = COMPONENTS.filter(isMissing);
  if (missing.length === 0 || process.getuid?.() !== 0 || !isExecutable(APT_GET)) return missing;
  await installWithApt(missing.map((component) => component.debianPackage));
  return missing.filter(isMissing);
}

export function describeMissing(missing: readonly TestComponent[]): string {
  const packages = missing.map((component) => component.debianPackage).join(' ');
  return [
    '!!! NOT EVERYTHING WAS TESTED',
    ...missing.map(({ name, untested }) => `!!! ${name} is not installed. Not tested: ${untested}.`),
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
    console.error(
      `npm test: the installation failed.\n${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function isMissing({ programs }: TestComponent): boolean {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return !folders.some((folder) => programs.some((program) => isExecutable(join(folder, program))));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
