import type { RunDetail } from '@phalanx/protocol';
import { useQuery } from '@tanstack/react-query';

import { runQuery } from './queries.ts';

export type RecordScreen = NonNullable<RunDetail['last_screen']>['screen'];

/** Where an automation came to: the stage it was in, and the state of its last screen. */
export const StageAndState = ({ screen: { nextStage, screenState } }: { screen: RecordScreen }) => (
  <>
    {nextStage !== '' && (
      <>
        Stage <b>{nextStage}</b>,{' '}
      </>
    )}
    last state <b>{screenState}</b>
  </>
);

/** The same for a row of a list, which knows nothing of the run's records. */
export function StageAndStateOfRun({ runId }: { runId: string }) {
  const { data: run } = useQuery(runQuery(runId));
  return run?.last_screen === null || run === undefined ? null : (
    <StageAndState screen={run.last_screen.screen} />
  );
}
