/** Ref of the only branch of a project. */
export const mainBranch = 'refs/heads/main';
