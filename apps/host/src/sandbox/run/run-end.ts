/** Failed ends of runs, one function per error code. Used by the child and by the host. */
import type { SandboxError } from '@phalanx/protocol';

export interface FailedEnd {
  outcome: 'failed';
  error: SandboxError;
}

export function failed(code: string, message: string, stack: string | null = null): FailedEnd {
  return { outcome: 'failed', error: { code, message, stack } };
}

export function outOfMemory(memoryMb: number): FailedEnd {
  return failed(
    'out_of_memory',
    `The automation used more memory than its limit of ${memoryMb} MB. Keep less at a time (screens, pictures, long lists), or raise the limit.`,
  );
}

/** Whether V8 threw the error because the process may not allocate more memory. */
export const isOutOfMemory = (message: string): boolean =>
  /^(RangeError: )?(Array buffer allocation failed|(Shared)?ArrayBuffer\.prototype\.\w+: Out of memory)$/.test(
    message,
  );

export function cpuLimit(cpuMs: number): FailedEnd {
  return failed(
    'cpu_limit',
    `The automation used more processor time than its limit of ${cpuMs / 1000} s. Wait with agent.actions.sleep or a wait helper instead of looping, or raise the limit.`,
  );
}

/** Returns the end for an error that no user code caught, with the stack in the user's own lines. */
export function uncaught(error: Omit<SandboxError, 'code'>): FailedEnd {
  return failed('uncaught_error', error.message, error.stack);
}

export function timedOut(durationMs: number): FailedEnd {
  return failed(
    'timed_out',
    `The automation ran longer than its limit of ${durationMs / 1000} s and was ended.`,
  );
}

/** Returns the end for a process that died of something that no code in it can catch, or that never started. */
export function crashed(exit: ExitFacts, memoryMb: number): FailedEnd {
  // V8 aborts the process with a list of its last collections when a heap exceeds its limit before the isolate can be
  // ended.
  if (exit.stderr.includes('<--- Last few GCs --->')) return outOfMemory(memoryMb);
  if (exit.startError !== undefined)
    return failed(
      'sandbox_not_started',
      `The host could not start a process for the automation (${exit.startError}). Start it again; if that does not help, the host may be out of processes, open files or memory.`,
    );
  const how = exit.signal === null ? `exit code ${exit.exitCode}` : `signal ${exit.signal}`;
  return failed(
    'sandbox_crashed',
    `The automation's process crashed (${how}). This happens when code asks for far more memory at once than a run may use, such as splitting a huge string. Only this run was ended.`,
  );
}

interface ExitFacts {
  stderr: string;
  signal: string | null;
  exitCode: number | null;
  startError?: string;
}
