import type { GitProgram } from './git-program.ts';
import type { Tree } from './tree.ts';

export interface ObjectInfo {
  readonly id: string;
  readonly type: string;
  readonly sizeBytes: number;
}

/** Stands for no object, as in git's own protocols. */
export const noObject = '0'.repeat(40);

/** Objects that can be read: those of a repository, alone or with what a change adds to them. */
export interface GitObjects {
  readonly git: GitProgram;
  /** For commands of git, which see the objects of the repository alone. */
  readonly gitDir: string;
  /** By name of an object, such as `<commit>^{tree}`; the name must not come from a caller unchecked. */
  findInfo(name: string): Promise<ObjectInfo | undefined>;
  readBlob(id: string): Promise<Buffer>;
  readTree(id: string): Promise<Tree>;
}
