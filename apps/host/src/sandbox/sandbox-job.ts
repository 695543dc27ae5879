import type {
  AgentCallName,
  AgentCallParams,
  AgentCallResult,
  SandboxLogEntry,
  SandboxReport,
} from '@phalanx/protocol';

/** One run for a child. */
export interface SandboxJob {
  runId: string;
  /**
   * Code to run. `code` is a script body without import and export and may use top-level await. `sourceMap` is the JSON
   * of a version 3 map.
   */
  bundle: { code: string; sourceMap: string | null };
  /** Arguments that reach the code unchanged as `agent.arguments`. */
  arguments: { automationParameters: unknown; jobVariables: unknown };
  limits: SandboxLimits;
}

export interface SandboxLimits {
  /**
   * Heap of the user's code in MB. It also determines, with an allowance for the process itself, the limit of the
   * child's resident memory.
   */
  memoryMb: number;
  /** CPU time of the child in milliseconds. */
  cpuMs: number;
  /** Maximum duration from `begin` to the end, in milliseconds. */
  durationMs: number;
}

export type StepBegan = Omit<Extract<SandboxReport, { type: 'stepBegan' }>, 'type'>;

export interface SandboxHooks {
  /**
   * Receives batches in order, with at most 1,000 entries each. No more follow until a returned promise settles, except
   * while the run is being ended: then the rest follows at once.
   */
  onLog(entries: readonly SandboxLogEntry[]): void | Promise<void>;
  /**
   * Handles a validated call of the `agent` API. `signal` aborts when the run ends. The `code` of an error is passed
   * on.
   */
  onCall<Name extends AgentCallName>(
    name: Name,
    params: AgentCallParams<Name>,
    signal: AbortSignal,
  ): Promise<AgentCallResult<Name>>;
  /** Receives the steps that the rate limit allows, in the order of the calls and their answers. */
  onStepBegan?(began: StepBegan): void;
  onStepEnded?(end: unknown): void;
  /** Receives the run's current result as JSON text. The last one wins. */
  onResult(json: string): void;
}

export interface SandboxEnd {
  outcome: 'completed' | 'failed' | 'stopped' | 'timed_out';
  error: { code: string; message: string; stack: string | null } | null;
}

export interface SandboxRun {
  /**
   * Resolves when the child has loaded the code and the user's first line has not run, or when the run ends before
   * that.
   */
  started: Promise<void>;
  /** Runs the code from its first line. */
  begin(): void;
  /** Ends the run, even in the middle of a loop. */
  stop(): void;
  /** Resolves after all log entries were handed over. Never rejects. */
  ended: Promise<SandboxEnd>;
}
