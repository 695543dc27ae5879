import { API, type Snapshot } from 'typescript/unstable/sync';

import { defaultOptions, fixedOptions } from '../../apps/server/src/code/compile/checking-options.ts';
import { readAgentTypes } from '../../apps/server/src/code/compile/declarations.ts';
import type { SampleFiles } from './sample-project.ts';

export interface RawChecker {
  /** Throws if the file has errors with this content. */
  check(path: string, content: string): void;
}

const root = '/project';
const config = `${root}/tsconfig.json`;
const roots = `${root}/roots.ts`;
const agentTypes = `${root}/agent.d.ts`;

/** Opens the native checker on files in memory, with nothing around it. Checks the project once to warm up. */
export async function openRawChecker(files: SampleFiles): Promise<RawChecker> {
  const texts = new Map(Array.from(files, ([path, text]) => [`${root}/${path}`, text]));
  texts.set(roots, Array.from(files.keys(), (path) => `import './${path.replace(/\.ts$/, '')}';`).join('\n'));
  texts.set(agentTypes, await readAgentTypes());
  texts.set(
    config,
    JSON.stringify({
      compilerOptions: { ...defaultOptions, ...fixedOptions },
      files: ['./roots.ts', './agent.d.ts'],
    }),
  );
  const isOurs = (name: string): boolean => name.startsWith(root);
  // Undefined makes the checker read from the disk, which has the standard libraries.
  const api = new API({
    cwd: '/',
    fs: {
      readFile: (name) => texts.get(name) ?? (isOurs(name) ? null : undefined),
      fileExists: (name) => (isOurs(name) ? texts.has(name) : undefined),
      directoryExists: (name) => (isOurs(name) ? !name.includes('node_modules') : undefined),
      realpath: (name) => name,
    },
  });
  let snapshot: Snapshot = api.updateSnapshot({ openProjects: [config] });
  const checkFile = (file: string | undefined): void => {
    const program = snapshot.getProject(config)?.program;
    if (program === undefined) throw new Error('the checker did not open the project');
    const found = [
      ...program.getProgramDiagnostics(),
      ...program.getSyntacticDiagnostics(file),
      ...program.getSemanticDiagnostics(file),
    ];
    if (found[0] !== undefined) throw new Error(`${found[0].fileName}: ${found[0].text}`);
  };
  checkFile(undefined);
  return {
    check(path, content) {
      const file = `${root}/${path}`;
      texts.set(file, content);
      const before = snapshot;
      snapshot = api.updateSnapshot({ fileChanges: { changed: [file], created: [], deleted: [] } });
      before.dispose();
      checkFile(file);
    },
  };
}
