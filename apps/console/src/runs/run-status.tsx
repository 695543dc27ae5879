import type { Run } from '@phalanx/protocol';

import { Mark, type MarkLook } from '../parts/mark.tsx';

export type RunStatus = Run['status'];

export const runLooks: Record<RunStatus, MarkLook> = {
  starting: { tone: 'waiting', glyph: '◌', word: 'starting' },
  running: { tone: 'busy', glyph: '▶', word: 'running' },
  completed: { tone: 'ready', glyph: '✓', word: 'completed' },
  failed: { tone: 'broken', glyph: '✕', word: 'failed' },
  stopped: { tone: 'offline', glyph: '■', word: 'stopped' },
  timed_out: { tone: 'act', glyph: '◷', word: 'timed out' },
  lost: { tone: 'act', glyph: '?', word: 'lost' },
};

const outOfSteps: MarkLook = { tone: 'act', glyph: '▲', word: 'out of steps' };

/** What became of it; one that ended by itself may have been out of steps. */
export const RunStatusMark = ({ run }: { run: Pick<Run, 'status' | 'outcome'> }) => (
  <Mark
    {...(run.status === 'completed' && run.outcome === 'out_of_steps' ? outOfSteps : runLooks[run.status])}
  />
);

export const isActive = ({ status }: Pick<Run, 'status'>): boolean =>
  status === 'starting' || status === 'running';
