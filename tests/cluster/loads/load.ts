/** Callers of the cluster, which record violations. */
export interface Load {
  readonly violations: readonly string[];
  /** Numbers of actions, for the test's report. */
  readonly counts: Readonly<Record<string, number>>;
  /** Resolves when all callers have their last replies. */
  end(): Promise<void>;
  /** Checks after the end that nothing is missing. */
  check(): Promise<void>;
}
