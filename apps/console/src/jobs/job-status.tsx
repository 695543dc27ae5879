import type { Job } from '@phalanx/protocol';

import { Mark, type MarkLook } from '../parts/mark.tsx';

const looks: Record<Job['status'], MarkLook> = {
  waiting: { tone: 'waiting', glyph: '◌', word: 'waiting' },
  running: { tone: 'busy', glyph: '▶', word: 'running' },
  completed: { tone: 'ready', glyph: '✓', word: 'completed' },
  failed: { tone: 'broken', glyph: '✕', word: 'failed' },
  cancelled: { tone: 'offline', glyph: '■', word: 'cancelled' },
};

/** Of a job or of one of its tasks. */
export const JobStatusMark = ({ status }: Pick<Job, 'status'>) => <Mark {...looks[status]} />;

/** Such as `3 waiting, 2 running`. */
export const countsText = ({ tasks }: Pick<Job, 'tasks'>): string =>
  Object.entries(tasks)
    .flatMap(([word, count]) => (count === 0 ? [] : [`${count.toLocaleString('en')} ${word}`]))
    .join(', ');

export const phonesText = ({ selector, device_ids: ids }: Pick<Job, 'selector' | 'device_ids'>): string =>
  selector ?? `${ids?.length ?? 0} phones`;
