import type { RunDetail, RunStep } from '@phalanx/protocol';
import { useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';

import { recordQuery, type RecordScreen } from '../records/queries.ts';

/** The newest records of a run have its last screens; each holds up to 50. */
const mostRecords = 5;

/** The stored screens of a run, oldest first. */
export function useStepScreens(run: Pick<RunDetail, 'run_id' | 'records'>): readonly RecordScreen[] {
  const queries = run.records
    .slice(0, mostRecords)
    .map(({ record_id: at }) => recordQuery({ run: run.run_id, status: 'any' }, { at }));
  const replies = useQueries({ queries }).map(({ data }) => data?.result?.screens);
  const known = replies.map((screens) => screens?.length ?? -1).join();
  return useMemo(
    () => {
      const byId = new Map(replies.flatMap((screens) => screens ?? []).map((screen) => [screen._id, screen]));
      return [...byId.values()].toSorted((one, other) => one.timestamp - other.timestamp);
    },
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the replies are new each time; these tell whether they differ
    [run.run_id, known],
  );
}

/** The screens of a step, as far as they are stored. What it left is known when the next reading has seen it. */
export function screensOf(
  steps: readonly RunStep[],
  step: RunStep | undefined,
  screens: readonly RecordScreen[],
): { before: RecordScreen | undefined; after: RecordScreen | undefined } {
  const find = (id: string | undefined): RecordScreen | undefined => screens.find(({ _id }) => _id === id);
  if (step === undefined) return { before: undefined, after: undefined };
  const next = step.after ?? steps.find((one) => one.step > step.step && one.after !== undefined)?.after;
  return { before: find(step.before), after: find(next) };
}

/** The step that shows a screen: the last that saw it. */
export const stepOfScreen = (steps: readonly RunStep[], screenId: string): RunStep | undefined =>
  steps.findLast((step) => step.after === screenId) ?? steps.findLast((step) => step.before === screenId);
