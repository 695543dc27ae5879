import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { preludeScriptName } from '@phalanx/automation';
import { build, type BuildOptions, type Plugin } from 'esbuild';

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

/** The parameters that Node gives its own files. */
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
 * Gives the prelude Node's own console as the module `node-sources`: the running Node's, so that automations print to
 * the letter what it would print.
 */
const nodeSources: Plugin = {
  name: 'node-sources',
  setup(pluginBuild) {
    pluginBuild.onResolve({ filter: /^node-sources$/ }, ({ path }) => ({ path, namespace: 'node' }));
    pluginBuild.onLoad({ filter: /./, namespace: 'node' }, () => ({ contents: moduleText(readSources()) }));
  },
};

/** Node has no other way to its own sources. It is the same in all releases of a major version. */
function readSources(): Record<string, string | undefined> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- not in Node's types
  const node = process as unknown as { binding: (name: 'natives') => Record<string, string | undefined> };
  return node.binding('natives');
}

function moduleText(sources: Record<string, string | undefined>): string {
  const functionOf = (file: string, parameters: string): string => {
    const text = sources[file];
    if (text === undefined)
      throw new Error(`Node ${process.version} has no file ${file}; Phalanx needs Node 24.`);
    return `function (${parameters}) {\n${text}\n}`;
  };
  const entries = files.map((file) => `${JSON.stringify(file)}: ${functionOf(file, fileParameters)}`);
  return `export const nodeSources = {\n__proto__: null,\n${entries.join(',\n')}\n};
export const fillPrimordials = ${functionOf(primordialsFile, primordialsParameters)};`;
}
