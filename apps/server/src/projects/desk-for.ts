import type { ProjectDesk } from './project-desk.ts';

/** The same desk, whose work is done in the turns of one user. */
export function deskFor(desk: ProjectDesk, userId: string): ProjectDesk {
  const { compiler, parameters } = desk;
  return {
    ...desk,
    compiler: {
      compileFile: (files, change) => compiler.compileFile({ ...files, userId }, change),
      compileProject: (files) => compiler.compileProject({ ...files, userId }),
    },
    parameters: { findSchemaProblem: (schema) => parameters.findSchemaProblem(schema, userId) },
  };
}
