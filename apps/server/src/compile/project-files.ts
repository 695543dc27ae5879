/** The files of a project as one immutable state, such as a git tree. */
export interface ProjectFiles {
  readonly projectId: string;
  /** Another one whenever any file differs. */
  readonly treeId: string;
  /** All files: path to a word that is another one whenever the content differs, such as the blob's hash. */
  list(): Promise<ReadonlyMap<string, string>>;
  /** Undefined when there is no such file. */
  read(path: string): Promise<string | undefined>;
}
