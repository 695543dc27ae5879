import type { Plugin } from 'esbuild';

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
export const nodeSources: Plugin = {
  name: 'node-sources',
  setup(build) {
    build.onResolve({ filter: /^node-sources$/ }, ({ path }) => ({ path, namespace: 'node' }));
    build.onLoad({ filter: /./, namespace: 'node' }, () => ({ contents: moduleText(readSources()) }));
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
