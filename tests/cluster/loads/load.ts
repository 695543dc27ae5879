/** Callers of the cluster, who note what must not happen. */
export interface Load {
  readonly violations: readonly string[];
  /** Numbers of actions, for the reader of the test. */
  readonly counts: Readonly<Record<string, number>>;
  /** Resolves when all callers have their last answers. */
  end(): Promise<void>;
  /** Once everything is quiet: looks whether everything is there. */
  check(): Promise<void>;
}
