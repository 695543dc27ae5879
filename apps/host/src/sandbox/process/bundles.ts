import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { preludeScriptName } from '@phalanx/automation';
import { build, type BuildOptions } from 'esbuild';

import { nodeSources } from './node-sources.ts';

/** What every child is given: made once, when the pool is created. */
export interface SandboxBundles {
  /** The child's program, CommonJS. */
  program: string;
  /**
   * Of a run: a function expression that takes the port's two functions and installs the globals. Of a replay: the script
   * of a snapshot, which keeps such a function as `installPrelude`.
   */
  prelude: string;
  /** Absolute path of isolated-vm's package folder. */
  isolatedVmPath: string;
  /** Folders that isolated-vm is loaded from: all that a child may read. */
  readablePaths: string[];
}

export async function buildSandboxBundles(): Promise<SandboxBundles> {
  const [program, prelude] = await Promise.all([
    bundleProgram(new URL('../child/main.ts', import.meta.url)),
    bundlePrelude(import.meta.resolve('@phalanx/automation/prelude')),
  ]);
  return {
    program,
    prelude: `(ask, block) => {\n'use strict';\n${prelude}\nreturn prelude.install({ ask, block });\n}\n//# sourceURL=${preludeScriptName}`,
    ...isolatedVmPaths(),
  };
}

/** What a process is given that replays saved screens. */
export async function buildReplayBundles(): Promise<SandboxBundles> {
  const [program, prelude] = await Promise.all([
    bundleProgram(new URL('../replay/child/main.ts', import.meta.url)),
    bundlePrelude(import.meta.resolve('@phalanx/automation/replay-prelude')),
  ]);
  return {
    program,
    prelude: `(() => {\n'use strict';\n${prelude}\nglobalThis.installPrelude = prelude.install;\n})()`,
    ...isolatedVmPaths(),
  };
}

const bundlePrelude = (address: string): Promise<string> =>
  bundle({
    entryPoints: [fileURLToPath(address)],
    format: 'iife',
    globalName: 'prelude',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    plugins: [nodeSources],
  });

function isolatedVmPaths(): Pick<SandboxBundles, 'isolatedVmPath' | 'readablePaths'> {
  const isolatedVmPath = packageFolder('isolated-vm', import.meta.filename);
  return {
    isolatedVmPath,
    readablePaths: [isolatedVmPath, packageFolder('node-gyp-build', isolatedVmPath)],
  };
}

/** One CommonJS text of a program and all that it imports, so that its process needs no file of ours. */
export const bundleProgram = (entry: URL): Promise<string> =>
  bundle({ entryPoints: [fileURLToPath(entry)], format: 'cjs', platform: 'node' });

function packageFolder(name: string, from: string): string {
  return dirname(createRequire(join(from, 'package.json')).resolve(`${name}/package.json`));
}

/** By their entries. They are made of installed files, so all pools of a process have the same. */
const bundles = new Map<string, Promise<string>>();

function bundle(options: BuildOptions & { entryPoints: string[] }): Promise<string> {
  const entry = options.entryPoints.join(' ');
  const known = bundles.get(entry) ?? buildBundle(options);
  bundles.set(entry, known);
  known.catch(() => bundles.delete(entry));
  return known;
}

async function buildBundle(options: BuildOptions): Promise<string> {
  const { outputFiles } = await build({
    bundle: true,
    write: false,
    target: 'node24',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'silent',
    ...options,
  });
  const text = outputFiles?.[0]?.text;
  if (text === undefined) throw new Error('esbuild gave no output for the sandbox.');
  return text;
}
