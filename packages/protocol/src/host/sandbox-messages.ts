/**
 * Messages between the host and the process of one run: frames of a 4-byte big-endian length and UTF-8 JSON,
 * over the child's stdin and stdout. The host checks every message of a child against `SandboxReport`, because
 * a child runs user code and may have been taken over.
 */
import { Type, type Static } from 'typebox';
import { logLevels } from '../rest/runs/logs.ts';
import { maxSourcePathLength, maxLogMessageLength, maxRunResultBytes } from '../runs/run-limits.ts';

/** A frame from a child may not be larger, in bytes: a log message of 64 KiB whose every byte needs an escape fits. */
export const maxSandboxReportBytes = 1024 * 1024;

const SandboxLogEntry = Type.Object({
  /** Epoch milliseconds on the host's clock. */
  timestamp: Type.Number(),
  level: Type.Enum(logLevels),
  /** Line in the file the user wrote, from 1; 0 when there is none. */
  lineNumber: Type.Integer({ minimum: 0 }),
  /** That file, as in the project; null when there is none. */
  path: Type.Union([Type.String({ maxLength: maxSourcePathLength }), Type.Null()]),
  /** The child cuts longer ones. */
  message: Type.String({ maxLength: maxLogMessageLength }),
});
/** One line of a run's log. */
export type SandboxLogEntry = Static<typeof SandboxLogEntry>;

/** Why a run failed, as a caller may read it. */
const SandboxError = Type.Object({
  /** Stable lower_snake word. */
  code: Type.String({ pattern: '^[a-z_]{1,64}$' }),
  message: Type.String({ maxLength: 8000 }),
  /** Stack in the user's own lines, null when there is none. */
  stack: Type.Union([Type.String({ maxLength: 16_000 }), Type.Null()]),
});
export type SandboxError = Static<typeof SandboxError>;

const requestId = Type.Integer({ minimum: 1 });

/** From the child to the host. */
export const SandboxReport = Type.Union([
  /** Isolate and prelude stand; the child waits for a job. */
  Type.Object({ type: Type.Literal('ready') }),
  /** The job's code is compiled; its first line waits for `begin`. */
  Type.Object({ type: Type.Literal('loaded') }),
  Type.Object({ type: Type.Literal('log'), entry: SandboxLogEntry }),
  /** A call of the `agent` API. `params` is checked against the table in agent-calls.ts. */
  Type.Object({
    type: Type.Literal('call'),
    id: requestId,
    name: Type.String({ maxLength: 64 }),
    params: Type.Unknown(),
  }),
  /** The code no longer wants the call of that number, which is answered nevertheless. */
  Type.Object({ type: Type.Literal('cancel'), id: requestId }),
  /**
   * A call of user code's own begins, and ends. `step` and `end` are checked against `StepBegin` and `StepEnd`: what
   * does not fit is no step, and costs the run nothing.
   */
  Type.Object({
    type: Type.Literal('stepBegan'),
    step: Type.Unknown(),
    /** Steps before it that were not told. */
    skipped: Type.Integer({ minimum: 0 }),
    lineNumber: SandboxLogEntry.properties.lineNumber,
    path: SandboxLogEntry.properties.path,
  }),
  Type.Object({ type: Type.Literal('stepEnded'), end: Type.Unknown() }),
  /** JSON text of the run's result so far. */
  Type.Object({ type: Type.Literal('result'), json: Type.String({ maxLength: maxRunResultBytes }) }),
  /** The last message: nothing of the run happens after it. */
  Type.Object({
    type: Type.Literal('ended'),
    outcome: Type.Union([Type.Literal('completed'), Type.Literal('failed'), Type.Literal('stopped')]),
    error: Type.Union([SandboxError, Type.Null()]),
  }),
]);
export type SandboxReport = Static<typeof SandboxReport>;

/**
 * Everything that a child needs before it can be ready: always the first frame it gets, with the bytes of the
 * snapshot behind it.
 */
export interface SandboxBoot {
  /** Source of the child's own program, a CommonJS module that exports `main`. */
  program: string;
  /** 0: there is none. */
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

/** Limits of the log stream of one run. A run that logs faster waits; nothing is dropped. */
export interface SandboxLogRate {
  linesPerSecond: number;
  burstLines: number;
  bytesPerSecond: number;
  burstBytes: number;
}

/** From the host to the child. */
export type SandboxCommand =
  | {
      type: 'job';
      /** Script body without import and export; may use top-level await. */
      code: string;
      /** JSON of a version 3 source map to the user's files. */
      sourceMap: string | null;
      /** JSON of `agent.arguments`. */
      argumentsJson: string;
      /** CPU time of the whole child from `begin` on, in milliseconds. */
      cpuMs: number;
      logRate: SandboxLogRate;
    }
  | { type: 'begin' }
  | { type: 'stop' }
  | { type: 'result'; id: number; result: SandboxCallResult };

/** How an `agent` call went. `value` is absent for calls that give nothing. */
export type SandboxCallResult =
  | { ok: true; value?: unknown }
  | { ok: false; error: { code: string; message: string } };
