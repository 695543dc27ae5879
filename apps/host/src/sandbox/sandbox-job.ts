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
  /** `code`: a script body without import and export; may use top-level await. `sourceMap`: JSON of a version 3 map. */
  bundle: { code: string; sourceMap: string | null };
  /** Objects; they reach the code unchanged as `agent.arguments`. */
  arguments: { automationParameters: unknown; jobVariables: unknown };
  limits: SandboxLimits;
}

export interface SandboxLimits {
  /** Heap of the user's code, and (with room for the process itself) the child's resident memory. */
  memoryMb: number;
  /** Processor time of the child. */
  cpuMs: number;
  /** Maximum duration from `begin` to the end. */
  durationMs: number;
}

export type StepBegan = Omit<Extract<SandboxReport, { type: 'stepBegan' }>, 'type'>;

export interface SandboxHooks {
  /**
   * Batches in order, at most 1,000 entries each. No more come until a returned promise settles; only when the run is
   * being ended, what is left comes at once.
   */
  onLog(entries: readonly SandboxLogEntry[]): void | Promise<void>;
  /** A checked call of the `agent` API; `signal` is aborted when the run ends. An error with a `code` keeps it. */
  onCall<Name extends AgentCallName>(
    name: Name,
    params: AgentCallParams<Name>,
    signal: AbortSignal,
  ): Promise<AgentCallResult<Name>>;
  /** Called with the steps that the rate allows, in the order of the calls and their answers. */
  onStepBegan?(began: StepBegan): void;
  onStepEnded?(end: unknown): void;
  /** JSON text of the run's result so far; the last one counts. */
  onResult(json: string): void;
}

export interface SandboxEnd {
  outcome: 'completed' | 'failed' | 'stopped' | 'timed_out';
  error: { code: string; message: string; stack: string | null } | null;
}

export interface SandboxRun {
  /** The child has the code, and the user's first line has not run. Settles too when the run ends before that. */
  started: Promise<void>;
  /** Runs the first line. */
  begin(): void;
  /** Ends the run, also in the middle of a loop. */
  stop(): void;
  /** Never rejects. All log entries were handed over before. */
  ended: Promise<SandboxEnd>;
}
