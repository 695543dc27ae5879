import type { Compiler } from '../compile/compiler.ts';
import type { ProjectRepositories } from './project-repositories.ts';
import type { ProjectSizes } from './project-sizes.ts';
import type { ProjectTotals } from './project-totals.ts';

/** What working on the files of projects takes. */
export interface ProjectDesk {
  readonly repositories: ProjectRepositories;
  readonly compiler: Pick<Compiler, 'compileFile' | 'compileProject'>;
  readonly parameters: { findSchemaProblem(schema: string, userId?: string): Promise<string | undefined> };
  readonly totals: ProjectTotals;
  readonly sizes: Pick<ProjectSizes, 'add'>;
}
