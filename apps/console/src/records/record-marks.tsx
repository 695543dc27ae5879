import { Mark, type MarkLook } from '../parts/mark.tsx';
import type { ReviewRecord } from './queries.ts';

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
