import {
  describeSequence,
  type OutOfStepsRecord,
  type Replay,
  type SequenceMoment,
  type SequenceOutcome,
} from '@phalanx/protocol';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';

import { call, localAddress } from '../../api/call.ts';
import { useMissingScope } from '../../api/me.ts';
import { Button } from '../../parts/button.tsx';
import { InlineFailure } from '../../parts/states.tsx';
import { replayQuery, boardText } from './replay.tsx';
import styles from './replays.module.css';

/** Shows whether the saved code would have led the run of a record differently. */
export function RecordReplay({ record }: { record: OutOfStepsRecord }) {
  const missing = useMissingScope('review');
  const starting = useMutation({
    mutationFn: async () => {
      const body = { mode: 'sequence' as const, record_id: record.out_of_steps_id };
      const input = { params: { id: record.automation_id }, body };
      return (await call('POST /api/v2/automation/replay/:id', input)).replay;
    },
  });
  const id = starting.data?.id;
  const { data: replay } = useQuery({ ...replayQuery(id ?? ''), enabled: id !== undefined });
  const isBusy =
    starting.isPending || (id !== undefined && (replay === undefined || replay.ended_at === null));
  return (
    <section className={styles['record']} aria-label="Replay of the record">
      <div className={styles['draftBar']}>
        <Button look="quiet" reason={missing} isBusy={isBusy} onClick={() => starting.mutate()}>
          Replay with the current code
        </Button>
        <span role="status">{replay === undefined ? '' : statusOf(replay)}</span>
      </div>
      {starting.error !== null && <InlineFailure error={starting.error} />}
      {replay !== undefined && replay.sequence !== null && (
        <Divergence record={record} sequence={replay.sequence} />
      )}
    </section>
  );
}

function statusOf(replay: Replay): string {
  const { sequence } = replay;
  if (sequence === null) return boardText(replay);
  const { result, own_code: own } = sequence;
  if (result.kind === 'same') return `The run would go the same way: ${describeSequence(result)}.`;
  const what = `The run would go differently. ${describeSequence(result)}.`;
  if (own === 'not_reproducible')
    return `Not reproducible: the code of the original run does not behave as recorded either, so the result says nothing about the current code. ${describeSequence(result)}.`;
  return own === 'same'
    ? what
    : `${what} The code of the original run is not known, so the current code may not be at fault.`;
}

/** First screen that leads elsewhere, and the next screen in the record. */
function Divergence({
  record,
  sequence: { result },
}: {
  record: OutOfStepsRecord;
  sequence: SequenceOutcome;
}) {
  if (result.kind === 'same') return null;
  const next = record.screens[result.index + 1];
  return (
    <div className={styles['pictures']}>
      <Picture record={record} index={result.index}>
        {result.kind === 'diverges' ? (
          <>
            In the record: {momentText(result.saved)}
            <br />
            Now: {momentText(result.now)}
          </>
        ) : (
          describeSequence(result)
        )}
      </Picture>
      {next !== undefined && (
        <Picture record={record} index={result.index + 1}>
          Next in the record: {next.screenState}
        </Picture>
      )}
    </div>
  );
}

const momentText = ({ state, stage, calls, ends }: SequenceMoment): string =>
  [
    `${state}${stage === '' ? '' : ` on the way to ${stage}`}`,
    ...calls,
    ...(ends === null ? [] : [`the run ${endWords[ends]}`]),
  ].join('; ');

const endWords: Record<NonNullable<SequenceMoment['ends']>, string> = {
  submits: 'gives up',
  throws: 'throws',
  arrives: 'has arrived',
  ends: 'ends',
};

interface PictureProps {
  record: OutOfStepsRecord;
  index: number;
  children: ReactNode;
}

function Picture({ record, index, children }: PictureProps) {
  const picture = record.screens[index]?.screenshot.screenshotUrl ?? null;
  return (
    <figure>
      {picture !== null && <img loading="lazy" src={localAddress(picture)} alt={`Screen ${index + 1}`} />}
      <figcaption>
        Screen {index + 1}
        {picture === null && ', without a picture'}
        <br />
        {children}
      </figcaption>
    </figure>
  );
}
