/**
 * Messages between the host and the process of one run: frames of a 4-byte big-endian length and UTF-8 JSON, over the
 * child's stdin and stdout. The host validates every message of a child against `SandboxReport`, because a child runs
 * user code and may be compromised.
 */
import { Type, type Static } from 'typebox';
import { logLevels } from '../rest/runs/logs.ts';
import { maxSourcePathLength, maxLogMessageLength, maxRunResultBytes } from '../runs/run-limits.ts';

/** Maximum size of a child's frame in bytes: enough for a log message of 64 KiB in which every byte is escaped. */
export const maxSandboxReportBytes = 1024 * 1024;

const SandboxLogEntry = Type.Object({
  /** Time in epoch milliseconds on the host's clock. */
  timestamp: Type.Number(),
  level: Type.Enum(logLevels),
  /** Line in the user's source file, from 1; 0 when unknown. */
  lineNumber: Type.Integer({ minimum: 0 }),
  /** Path of the source file in the project; null when unknown. */
  path: Type.Union([Type.String({ maxLength: maxSourcePathLength }), Type.Null()]),
  /** Text of the message. The child truncates longer ones. */
  message: Type.String({ maxLength: maxLogMessageLength }),
});
/** Entry of a run's log. */
export type SandboxLogEntry = Static<typeof SandboxLogEntry>;

/** Reason why a run failed, readable for a caller. */
const SandboxError = Type.Object({
  /** Stable code in lower_snake_case. */
  code: Type.String({ pattern: '^[a-z_]{1,64}$' }),
  message: Type.String({ maxLength: 8000 }),
  /** Stack in the user's own lines; null when there is none. */
  stack: Type.Union([Type.String({ maxLength: 16_000 }), Type.Null()]),
});
export type SandboxError = Static<typeof SandboxError>;

const requestId = Type.Integer({ minimum: 1 });

/** Reports from the child to the host. */
export const SandboxReport = Type.Union([
  /** Isolate and prelude are ready; the child waits for a job. */
  Type.Object({ type: Type.Literal('ready') }),
  /** Compiled code of the job; its first line waits for `begin`. */
  Type.Object({ type: Type.Literal('loaded') }),
  Type.Object({ type: Type.Literal('log'), entry: SandboxLogEntry }),
  /** Call of the `agent` API. `params` is validated against the table in agent-calls.ts. */
  Type.Object({
    type: Type.Literal('call'),
    id: requestId,
    name: Type.String({ maxLength: 64 }),
    params: Type.Unknown(),
  }),
  /** Cancels the call with this number, which is answered nevertheless. */
  Type.Object({ type: Type.Literal('cancel'), id: requestId }),
  /**
   * Begin and end of a call that user code made. `step` and `end` are validated against `StepBegin` and `StepEnd`. An
   * invalid one is ignored and does not affect the run.
   */
  Type.Object({
    type: Type.Literal('stepBegan'),
    step: Type.Unknown(),
    /** Number of unreported steps before this one. */
    skipped: Type.Integer({ minimum: 0 }),
    lineNumber: SandboxLogEntry.properties.lineNumber,
    path: SandboxLogEntry.properties.path,
  }),
  Type.Object({ type: Type.Literal('stepEnded'), end: Type.Unknown() }),
  /** Current result of the run, as JSON text. */
  Type.Object({ type: Type.Literal('result'), json: Type.String({ maxLength: maxRunResultBytes }) }),
  /** Last message: nothing of the run happens after it. */
  Type.Object({
    type: Type.Literal('ended'),
    outcome: Type.Union([Type.Literal('completed'), Type.Literal('failed'), Type.Literal('stopped')]),
    error: Type.Union([SandboxError, Type.Null()]),
  }),
]);
export type SandboxReport = Static<typeof SandboxReport>;

/**
 * Everything that a child needs to become ready. It is always the first frame, followed by the bytes of the snapshot.
 */
export interface SandboxBoot {
  /** Source code of the child's program, a CommonJS module that exports `main`. */
  program: string;
  /** Size of the snapshot in bytes; 0 when there is none. */
  snapshotBytes: number;
  /** Absolute path of the isolated-vm package. */
  isolatedVmPath: string;
  /** Heap limit of the isolate, in MB. */
  memoryMb: number;
}

/** Input of the child's program. */
export interface SandboxStart extends Omit<SandboxBoot, 'snapshotBytes'> {
  snapshot: ArrayBuffer;
}

/** Limits of a run's log stream. A run that logs faster is throttled; nothing is dropped. */
export interface SandboxLogRate {
  linesPerSecond: number;
  burstLines: number;
  bytesPerSecond: number;
  burstBytes: number;
}

/** Commands from the host to the child. */
export type SandboxCommand =
  | {
      type: 'job';
      /** Script body without import and export; may use top-level await. */
      code: string;
      /** JSON of a version 3 source map to the user's files. */
      sourceMap: string | null;
      /** JSON of `agent.arguments`. */
      argumentsJson: string;
      /** Limit of the whole child's CPU time from `begin` on, in milliseconds. */
      cpuMs: number;
      logRate: SandboxLogRate;
    }
  | { type: 'begin' }
  | { type: 'stop' }
  | { type: 'result'; id: number; result: SandboxCallResult };

/** Result of an `agent` call. `value` is absent for calls without a result. */
export type SandboxCallResult =
  | { ok: true; value?: unknown }
  | { ok: false; error: { code: string; message: string } };
