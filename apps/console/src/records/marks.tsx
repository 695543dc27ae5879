import type { JoinReason, RecordGroup } from '@phalanx/protocol';

import { Mark, type MarkLook } from '../parts/mark.tsx';
import type { ReviewRecord } from './queries.ts';

const looks: Record<RecordGroup['status'], MarkLook> = {
  open: { tone: 'act', glyph: '○', word: 'open' },
  solved: { tone: 'ready', glyph: '✓', word: 'solved' },
  ignored: { tone: 'offline', glyph: '↷', word: 'ignored' },
};
const reopened: MarkLook = { tone: 'broken', glyph: '↻', word: 'open again' };

export const GroupStatusMark = ({ group }: { group: RecordGroup }) => (
  <Mark {...(group.status === 'open' && group.reopened_by !== null ? reopened : looks[group.status])} />
);

/** What people see of it: the words of the screen, or where it was met. */
export const groupName = ({ title, next_stage: stage, screen_state: state }: RecordGroup): string =>
  title || `${state} on the way to ${stage}`;

export const reasonText = ({ by, likeness, id }: JoinReason): string =>
  ({
    new: 'the first one',
    key: 'the same print',
    likeness: `${Math.round((likeness ?? 0) * 100)} % alike`,
    id: `has the ID ${id ?? ''}`,
    person: 'somebody has put it here',
  })[by];

export const typeWords: Record<ReviewRecord['type'], string> = {
  outOfSteps: 'out of steps',
  timeout: 'timed out',
  debug: 'debug',
  crash: 'crash',
};

const statusLooks: Record<ReviewRecord['status'], MarkLook> = {
  pending: { tone: 'act', glyph: '○', word: 'pending' },
  solved: { tone: 'ready', glyph: '✓', word: 'solved' },
  skipped: { tone: 'offline', glyph: '↷', word: 'skipped' },
};

export const RecordStatusMark = ({ status }: { status: ReviewRecord['status'] }) => (
  <Mark {...statusLooks[status]} />
);
