import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { preludeScriptName } from '@phalanx/automation';
import { build, type BuildOptions, type Plugin } from 'esbuild';

/** Bundles for every child, built once when the pool is created. */
export interface SandboxBundles {
  /** Source code of the child's program, CommonJS. */
  program: string;
  /**
   * V8 snapshot of an isolate that has evaluated the prelude; evaluating it in the child would take 70 ms more. The
   * global `installPrelude` installs the globals.
   */
  snapshot: Uint8Array;
  /** Absolute path of isolated-vm's package folder. */
  isolatedVmPath: string;
  /** Folders from which isolated-vm is loaded. A child may read nothing else. */
  readablePaths: string[];
}

export const buildSandboxBundles = (): Promise<SandboxBundles> =>
  buildBundles('../child/main.ts', '@phalanx/automation/prelude');

/** Builds the bundles for a process that replays saved screens. */
export const buildReplayBundles = (): Promise<SandboxBundles> =>
  buildBundles('../replay/child/main.ts', '@phalanx/automation/replay-prelude');

async function buildBundles(main: string, prelude: string): Promise<SandboxBundles> {
  const [program, snapshot] = await Promise.all([
    bundleProgram(new URL(main, import.meta.url)),
    snapshotOf(import.meta.resolve(prelude)),
  ]);
  return { program, snapshot, ...isolatedVmPaths() };
}

/** Cached snapshots by prelude address. They are built from installed files, so all pools of a process share them. */
const snapshots = new Map<string, Promise<Uint8Array>>();

function snapshotOf(address: string): Promise<Uint8Array> {
  const known = snapshots.get(address) ?? bundlePrelude(address).then(takeSnapshot);
  snapshots.set(address, known);
  known.catch(() => snapshots.delete(address));
  return known;
}

/** Script in plain CommonJS, which Node runs unchanged. */
const snapshotScript = `
const [isolatedVmPath, filename] = process.argv.slice(1);
const code = require('node:fs').readFileSync(0, 'utf8');
const snapshot = require(isolatedVmPath).Isolate.createSnapshot([{ code, filename }]);
process.stdout.write(Buffer.from(snapshot.copy()));`;

/** Takes a snapshot in a separate process, because isolated-vm needs a Node flag that no other process has. */
async function takeSnapshot(prelude: string): Promise<Uint8Array> {
  const code = `(() => {\n'use strict';\n${prelude}\nglobalThis.installPrelude = prelude.install;\n})()`;
  const { isolatedVmPath } = isolatedVmPaths();
  const child = spawn(
    process.execPath,
    ['--no-node-snapshot', '--eval', snapshotScript, isolatedVmPath, preludeScriptName],
    { env: {} },
  );
  child.stdin.on('error', () => {}).end(code);
  const [bytes, said] = await Promise.all([buffer(child.stdout), text(child.stderr), once(child, 'close')]);
  if (child.exitCode !== 0) throw new Error(`V8 took no snapshot of the sandbox's prelude: ${said}`);
  return bytes;
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

/** Bundles a program and all its imports into one CommonJS text, so that its process needs none of our files. */
export const bundleProgram = (entry: URL): Promise<string> =>
  bundle({ entryPoints: [fileURLToPath(entry)], format: 'cjs', platform: 'node' });

function packageFolder(name: string, from: string): string {
  return dirname(createRequire(join(from, 'package.json')).resolve(`${name}/package.json`));
}

/** Cached programs by entry point. They are built from installed files, so all pools of a process share them. */
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
  const [output] = outputFiles ?? [];
  if (output === undefined) throw new Error('esbuild gave no output for the sandbox.');
  return output.text;
}

/** Parameters with which Node compiles its own files. */
const fileParameters = 'exports, require, module, process, internalBinding, primordials';
const primordialsParameters = 'exports, primordials, privateSymbols, perIsolateSymbols';
const primordialsFile = 'internal/per_context/primordials';
const files = [
  'internal/util/inspect',
  'internal/console/constructor',
  'internal/cli_table',
  'internal/util/debuglog',
];

/**
 * Provides Node's own console to the prelude as the module `node-sources`. It comes from the running Node, so that
 * automations print exactly what Node would print.
 */
const nodeSources: Plugin = {
  name: 'node-sources',
  setup(pluginBuild) {
    pluginBuild.onResolve({ filter: /^node-sources$/ }, ({ path }) => ({ path, namespace: 'node' }));
    pluginBuild.onLoad({ filter: /./, namespace: 'node' }, () => ({ contents: moduleText(readSources()) }));
  },
};

/** Reads Node's sources by the only available way, which is the same in all releases of a major version. */
function readSources(): Record<string, string | undefined> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- missing in Node's types
  const node = process as unknown as { binding: (name: 'natives') => Record<string, string | undefined> };
  return node.binding('natives');
}

function moduleText(sources: Record<string, string | undefined>): string {
  const functionOf = (file: string, parameters: string): string => {
    const source = sources[file];
    if (source === undefined)
      throw new Error(`Node ${process.version} has no file ${file}; Phalanx needs Node 24.`);
    return `function (${parameters}) {\n${source}\n}`;
  };
  const entries = files.map((file) => `${JSON.stringify(file)}: ${functionOf(file, fileParameters)}`);
  return `export const nodeSources = {\n__proto__: null,\n${entries.join(',\n')}\n};
export const fillPrimordials = ${functionOf(primordialsFile, primordialsParameters)};`;
}
