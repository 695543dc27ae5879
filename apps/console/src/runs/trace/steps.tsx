import type { RunStep } from '@phalanx/protocol';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, type KeyboardEvent, useState } from 'react';

import { classNames } from '../../parts/class-names.ts';
import styles from './trace.module.css';
import { call } from '../../api/call.ts';
import { pauseWhileSeen } from '../../parts/page-visibility.ts';

const rowHeight = 28;

interface StepListProps {
  steps: readonly RunStep[];
  chosen: number | undefined;
  onChoose: (step: number) => void;
  isLive: boolean;
}

/** List of all steps. Renders only the rows in view. */
export function StepList({ steps, chosen, onChoose, isLive }: StepListProps) {
  const scroll = useRef<HTMLDivElement>(null);
  const at = useMemo(() => steps.findIndex(({ step }) => step === chosen), [steps, chosen]);
  const rows = useVirtualizer({
    count: steps.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  });
  useEffect(() => {
    if (at >= 0) rows.scrollToIndex(at, { align: 'auto' });
    else if (isLive) rows.scrollToIndex(steps.length - 1);
  }, [rows, at, isLive, steps.length]);
  const depths = useMemo(() => depthsOf(steps), [steps]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const failed = (from: number, by: 1 | -1): number => {
      for (let index = from + by; index >= 0 && index < steps.length; index += by)
        if (steps[index]?.outcome !== 'ok') return index;
      return from;
    };
    const next = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: Math.min(at + 10, steps.length - 1),
      PageUp: Math.max(at - 10, 0),
      Home: 0,
      End: steps.length - 1,
      e: failed(at, 1),
      E: failed(at, -1),
    }[event.key];
    const step = next === undefined ? undefined : steps[next];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    onChoose(step.step);
  };
  return (
    <div
      ref={scroll}
      className={styles['steps']}
      role="listbox"
      aria-label="Steps"
      tabIndex={0}
      aria-activedescendant={at < 0 ? undefined : `step-${chosen}`}
      onKeyDown={onKeyDown}
    >
      <div role="presentation" className={styles['virtual']} style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, start }) => {
          const step = steps[index];
          return (
            step !== undefined && (
              <Row
                key={step.id}
                step={step}
                start={start}
                depth={depths.get(step.step) ?? 0}
                isChosen={index === at}
                place={{ position: index + 1, of: steps.length }}
                onChoose={onChoose}
              />
            )
          );
        })}
      </div>
    </div>
  );
}

function depthsOf(steps: readonly RunStep[]): ReadonlyMap<number, number> {
  const depths = new Map<number, number>();
  for (const { step, parent } of steps)
    depths.set(step, parent === undefined ? 0 : (depths.get(parent) ?? 0) + 1);
  return depths;
}

interface RowProps {
  step: RunStep;
  start: number;
  depth: number;
  isChosen: boolean;
  place: { position: number; of: number };
  onChoose: (step: number) => void;
}

function Row({ step, start, depth, isChosen, place, onChoose }: RowProps) {
  const { name, outcome, duration_ms: durationMs } = step;
  const isOk = outcome === 'ok';
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus -- the list has the keys
    <div
      id={`step-${step.step}`}
      role="option"
      aria-selected={isChosen}
      aria-posinset={place.position}
      aria-setsize={place.of}
      data-failed={!isOk}
      className={styles['step']}
      style={{ transform: `translateY(${start}px)`, paddingLeft: 10 + depth * 14 }}
      onClick={() => onChoose(step.step)}
    >
      <span className={styles['glyph']} aria-label={isOk ? 'ok' : outcome}>
        {isOk ? '✓' : '✕'}
      </span>
      <span className={styles['call']}>{name}</span>
      <span className={styles['target']} title={targetOf(step)}>
        {targetOf(step)}
      </span>
      <span className={classNames(styles['took'], durationMs >= 5000 && styles['slow'])}>
        {durationText(durationMs)}
      </span>
    </div>
  );
}

/** Formats a duration, such as `40 ms`, `1.2 s`, `64 s`. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
}

/** Describes the target of a step. */
export function targetOf({ target, point, swipe }: RunStep): string {
  if (target !== undefined) return target;
  if (point !== undefined) return point.join(', ');
  return swipe === undefined ? '' : `${swipe.slice(0, 2).join(', ')} → ${swipe.slice(2).join(', ')}`;
}

/** Formats the source location of the call; undefined for code without a location. */
export function placeOf({ path, line_number: line }: RunStep): string | undefined {
  if (line === 0) return undefined;
  return path === null ? `line ${line}` : `${path}:${line}`;
}

const pollMs = 700;
const retryMs = 2000;
/** Maximum number of steps in one reply. */
const pageSize = 10_000;

interface RunTrace {
  /** Steps in order of their start. */
  readonly steps: readonly RunStep[];
  readonly isLoaded: boolean;
  readonly error: unknown;
  /** Whether the service dropped steps in the middle. */
  readonly isTruncated: boolean;
}

const nothing: RunTrace = { steps: [], isLoaded: false, error: null, isTruncated: false };

interface Following {
  isOver: () => boolean;
  change: (next: (before: RunTrace) => RunTrace) => void;
  signal: AbortSignal;
}

/** Reads the steps from the first one and follows them while the run is active and the page is visible. */
async function follow(runId: string, { isOver, change, signal }: Following): Promise<void> {
  let from: string | undefined;
  while (!signal.aborted) {
    // Read before the steps, so that the steps at the end of the run are still fetched.
    const wasOver = isOver();
    let hasMore = false;
    try {
      const query = { limit: pageSize, ...(from === undefined ? {} : { from }) };
      const reply = await call('GET /api/v2/runs/:id/trace', { params: { id: runId }, query }, { signal });
      from = reply.steps.at(-1)?.id ?? reply.next_cursor ?? from;
      hasMore = reply.next_cursor !== null;
      change((before) => ({
        steps: reply.steps.length === 0 ? before.steps : inOrder([...before.steps, ...reply.steps]),
        isLoaded: !hasMore,
        error: null,
        isTruncated: reply.truncated,
      }));
      if (wasOver && !hasMore) return;
    } catch (error) {
      if (signal.aborted) return;
      change((before) => ({ ...before, error, isLoaded: true }));
      await pauseWhileSeen(retryMs, signal);
    }
    if (!hasMore) await pauseWhileSeen(pollMs, signal);
  }
}

const inOrder = (steps: readonly RunStep[]): RunStep[] =>
  steps.toSorted((one, other) => one.step - other.step);

/** Returns the steps of a run, stored or live. */
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
