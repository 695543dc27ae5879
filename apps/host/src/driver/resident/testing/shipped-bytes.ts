import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Folder with the tools from get-tools.sh; empty when they are missing. */
export const helperTools = process.env['TEST_HELPER_TOOLS'] ?? '';
export const helperFolder = join(import.meta.dirname, '../../../../helper');
export const shippedDex = join(helperFolder, 'phalanx-helper.dex');

/** Ground under the helper: a fake screen, or doubles of Android's classes of an API level. */
export type Ground = 'fake' | '26' | '34';

export interface ShippedBytes {
  /** Folder for this test. */
  readonly work: string;
  /** Runs the bytes. Arguments are those of Main.java. */
  start(
    on: Ground,
    properties: Record<string, string>,
    ...args: readonly string[]
  ): ChildProcessWithoutNullStreams;
  remove(): void;
}

/** Runs a tool without the Python of another package manager, which may come first in PATH. */
export const runTool = (program: string, ...args: string[]): Buffer =>
  execFileSync(program, args, { env: { ...process.env, PATH: '/usr/bin:/bin' }, stdio: 'pipe' });

/** Translates the bytes that phones get back for this machine's JVM. */
export function translateBack(...grounds: readonly Ground[]): ShippedBytes {
  const work = mkdtempSync(join(tmpdir(), 'phalanx-helper-'));
  const android = join(helperTools, 'android.jar');
  runTool('enjarify', '-f', '-o', join(work, 'helper.jar'), shippedDex);
  for (const ground of grounds) {
    const sources = ground === 'fake' ? 'fake/**/*.java' : `doubles/{common,${ground}}/**/*.java`;
    const into = join(work, ground);
    mkdirSync(into);
    const path = ['-implicit:none', '-sourcepath', join(helperFolder, 'java')];
    const files = globSync(join(helperFolder, 'testing', sources));
    runTool(
      'javac',
      '-encoding',
      'UTF-8',
      '-Xlint:-options',
      '--release',
      '8',
      '-cp',
      android,
      ...path,
      '-d',
      into,
      ...files,
    );
  }
  return {
    work,
    start(on, properties, ...args) {
      const classPath = [join(work, on), join(work, 'helper.jar'), android].join(':');
      const flags = Object.entries(properties).map(([name, value]) => `-D${name}=${value}`);
      const main = ['-cp', classPath, 'dev.phalanx.helper.Main', ...args];
      const options = ['-XX:TieredStopAtLevel=1', '-Dfile.encoding=UTF-8'];
      const child = spawn('java', [...options, ...flags, ...main], { stdio: 'pipe' });
      child.stdin.on('error', () => {});
      return child;
    },
    remove: () => rmSync(work, { recursive: true }),
  };
}
