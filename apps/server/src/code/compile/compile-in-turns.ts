import type { Turns } from '../../kernel/limits/turns.ts';
import type { ProjectFiles } from './project-mirror.ts';
import type { Compiler } from './compiler.ts';

/** Wraps a compiler so that users take turns. `files.userId` (default `files.projectId`) identifies the user. */
export function compileInTurns(compiler: Compiler, turns: Turns): Compiler {
  const userOf = ({ userId, projectId }: ProjectFiles): string => userId ?? projectId;
  return {
    ...compiler,
    compileFile: (files, change) => turns.run(userOf(files), () => compiler.compileFile(files, change)),
    assist: (files, change) => turns.run(userOf(files), () => compiler.assist(files, change)),
    addSigns: (files, added) => turns.run(userOf(files), () => compiler.addSigns(files, added)),
    compileProject: (files) => turns.run(userOf(files), () => compiler.compileProject(files)),
    bundleProject: (files) => turns.run(userOf(files), () => compiler.bundleProject(files)),
    bundleDirectCode: (owner, code) => turns.run(owner, () => compiler.bundleDirectCode(owner, code)),
  };
}
