import type { RunStep } from '@phalanx/protocol';

import type { RecordScreen } from '../../evidence/records/record.tsx';

type StoredScreen = Pick<RecordScreen, '_id' | 'timestamp'>;

interface StepScreens<Screen> {
  readonly before: Screen | undefined;
  readonly after: Screen | undefined;
}

const endOf = ({ timestamp, duration_ms: durationMs }: RunStep): number => timestamp + durationMs;

/**
 * Returns the stored screens before and after a step. The screen that a step left behind is known once a later step
 * has read it. An automation may store an unchanged screen repeatedly; each time creates a screen, and steps refer to
 * the first.
 */
export function screensOf<Screen extends StoredScreen>(
  steps: readonly RunStep[],
  step: RunStep,
  screens: readonly Screen[],
): StepScreens<Screen> {
  const find = (id: string | undefined): Screen | undefined => screens.find(({ _id }) => _id === id);
  const newestOf = (id: string | undefined, time: number): Screen | undefined => {
    const first = find(id);
    if (first === undefined) return undefined;
    return screens.findLast(({ timestamp }) => timestamp >= first.timestamp && timestamp <= time) ?? first;
  };
  const next = steps.find((one) => one.step > step.step && one.after !== undefined);
  return {
    before: newestOf(step.before, step.timestamp),
    after: step.after === undefined ? find(next?.after) : newestOf(step.after, endOf(step)),
  };
}

/**
 * Returns the step that shows a screen: the last one that saw it, or the one that was running when it was stored
 * again.
 */
export const stepOfScreen = (steps: readonly RunStep[], screen: StoredScreen): RunStep | undefined =>
  steps.findLast((step) => step.after === screen._id) ??
  steps.findLast((step) => step.before === screen._id) ??
  steps.findLast((step) => step.timestamp <= screen.timestamp);
