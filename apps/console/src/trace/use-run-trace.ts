import type { RunStep } from '@phalanx/protocol';
import { useEffect, useState } from 'react';

import { call } from '../api/call.ts';
import { pause } from '../logs/run-log.tsx';

const pollMs = 700;
const retryMs = 2000;
/** As many as a reply holds. */
const pageSize = 10_000;

export interface RunTrace {
  /** In the order in which they began. */
  readonly steps: readonly RunStep[];
  readonly isLoaded: boolean;
  readonly error: unknown;
  /** Whether the service left some out in the middle. */
  readonly isTruncated: boolean;
}

const nothing: RunTrace = { steps: [], isLoaded: false, error: null, isTruncated: false };

interface Following {
  isOver: () => boolean;
  change: (next: (before: RunTrace) => RunTrace) => void;
  signal: AbortSignal;
}

/** Reads the steps from the first and follows them while the run lasts and the page can be seen. */
async function follow(runId: string, { isOver, change, signal }: Following): Promise<void> {
  let from: string | undefined;
  while (!signal.aborted) {
    // Before the steps are read: what the run does last comes after this and is read all the same.
    const wasOver = isOver();
    let hasMore = false;
    try {
      const query = { limit: pageSize, ...(from === undefined ? {} : { from }) };
      const reply = await call('GET /api/v2/runs/:id/trace', { params: { id: runId }, query }, { signal });
      from = reply.steps.at(-1)?.id ?? reply.next_cursor ?? from;
      hasMore = reply.next_cursor !== null;
      change((before) => ({
        steps: reply.steps.length === 0 ? before.steps : inOrder([...before.steps, ...reply.steps]),
        ...{ isLoaded: !hasMore, error: null, isTruncated: reply.truncated },
      }));
      if (wasOver && !hasMore) return;
    } catch (error) {
      if (signal.aborted) return;
      change((before) => ({ ...before, error, isLoaded: true }));
      await pause(retryMs, signal);
    }
    if (!hasMore) await pause(pollMs, signal);
  }
}

const inOrder = (steps: readonly RunStep[]): RunStep[] =>
  steps.toSorted((one, other) => one.step - other.step);

/** The steps of a run, kept or live. */
export function useRunTrace(runId: string, isActive: boolean): RunTrace {
  const [state] = useState(() => ({ isActive }));
  const [trace, setTrace] = useState(nothing);
  useEffect(() => {
    state.isActive = isActive;
  });
  useEffect(() => {
    const abort = new AbortController();
    setTrace(nothing);
    void follow(runId, { isOver: () => !state.isActive, change: setTrace, signal: abort.signal });
    return () => abort.abort();
  }, [runId, state]);
  return trace;
}
