/** Runs code in a real child and collects its output, for the tests of the sandbox. */
import type { SandboxLogEntry } from '@phalanx/protocol';

import type { SandboxPool } from '../pool/sandbox-pool.ts';
import type { SandboxEnd, SandboxHooks, SandboxLimits, SandboxRun } from '../sandbox-job.ts';

/** Memory limit of the tests' pools in MB. Runs with the same limit use warm children. */
export const testMemoryMb = 64;

export interface TestRunOptions {
  sourceMap?: string;
  automationParameters?: unknown;
  jobVariables?: unknown;
  limits?: Partial<SandboxLimits>;
  onCall?: SandboxHooks['onCall'];
  onLog?: SandboxHooks['onLog'];
}

export interface TestRun extends SandboxRun {
  /** Log entries so far. */
  logs: SandboxLogEntry[];
  /** Results so far, as JSON texts. */
  results: string[];
  /** Resolves when an entry with this message has arrived; rejects when the run ends without it. */
  logged(message: string): Promise<void>;
}

/** Starts a child and begins the code. */
export function startCode(pool: SandboxPool, code: string, options: TestRunOptions = {}): TestRun {
  const logs: SandboxLogEntry[] = [];
  const results: string[] = [];
  const watchers = new Map<string, () => void>();
  const run = pool.start(
    {
      runId: '00000000-0000-7000-8000-000000000000',
      bundle: { code, sourceMap: options.sourceMap ?? null },
      arguments: {
        automationParameters: options.automationParameters ?? {},
        jobVariables: options.jobVariables ?? {},
      },
      // A busy machine gives a run only a small part of its time.
      limits: { memoryMb: testMemoryMb, cpuMs: 15_000, durationMs: 120_000, ...options.limits },
    },
    {
      onLog(entries) {
        logs.push(...entries);
        for (const { message } of entries) watchers.get(message)?.();
        return options.onLog?.(entries);
      },
      onCall: options.onCall ?? (() => Promise.reject(new Error('This test has no phone.'))),
      onResult: (json) => void results.push(json),
    },
  );
  void run.started.then(() => run.begin());
  const logged = (message: string): Promise<void> =>
    new Promise((resolve, reject) => {
      if (logs.some((entry) => entry.message === message)) resolve();
      else watchers.set(message, resolve);
      const saw = (): string => logs.map((entry) => entry.message).join('\n');
      void run.ended.then(({ outcome }) =>
        reject(new Error(`the run ${outcome} without logging ${message}:\n${saw()}`)),
      );
    });
  return { ...run, logs, results, logged };
}

export interface TestResult {
  end: SandboxEnd;
  logs: SandboxLogEntry[];
  messages: string[];
  results: string[];
}

/** Runs the code to its end. */
export async function runCode(
  pool: SandboxPool,
  code: string,
  options?: TestRunOptions,
): Promise<TestResult> {
  const { ended, logs, results } = startCode(pool, code, options);
  const end = await ended;
  return { end, logs, results, messages: logs.map(({ message }) => message) };
}
