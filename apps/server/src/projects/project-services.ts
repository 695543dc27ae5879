import type { Compiler } from '../compile/compiler.ts';
import type { ProjectRepositories } from './repositories/project-repositories.ts';
import type { ProjectSizes, ProjectTotals } from './project-sizes.ts';

/** What working on the files of projects takes. */
export interface ProjectServices {
  readonly repositories: ProjectRepositories;
  readonly compiler: Pick<Compiler, 'compileFile' | 'compileProject' | 'assist'>;
  readonly parameters: { findSchemaProblem(schema: string, userId?: string): Promise<string | undefined> };
  readonly totals: ProjectTotals;
  readonly sizes: Pick<ProjectSizes, 'add'>;
}

/** The same desk, whose work is done in the turns of one user. */
export function deskFor(desk: ProjectServices, userId: string): ProjectServices {
  const { compiler, parameters } = desk;
  return {
    ...desk,
    compiler: {
      compileFile: (files, change) => compiler.compileFile({ ...files, userId }, change),
      assist: (files, change) => compiler.assist({ ...files, userId }, change),
      compileProject: (files) => compiler.compileProject({ ...files, userId }),
    },
    parameters: { findSchemaProblem: (schema) => parameters.findSchemaProblem(schema, userId) },
  };
}
