import { type StepBegin, type StepEnd, stepRate } from '@phalanx/protocol';

import { createTokenBucket } from '../../time/token-bucket.ts';
import type { HostChannel } from './host-channel.ts';
import type { SourcePositions } from './source-positions.ts';

/** Tells the host of steps, as many as the rate allows. */
export function createStepTeller(channel: HostChannel, placeAt: SourcePositions['placeAt']) {
  const mayTell = createTokenBucket(stepRate.perSecond, stepRate.burst);
  let skipped = 0;
  return {
    /** A text refuses it: its end is not to be told either. */
    began(step: StepBegin, at: string): string | undefined {
      if (mayTell(0) > 0) {
        skipped += 1;
        return 'Too many steps.';
      }
      mayTell(1);
      channel.send({ type: 'stepBegan', step, skipped, ...placeAt(at) });
      skipped = 0;
      return undefined;
    },
    ended: (end: StepEnd): void => channel.send({ type: 'stepEnded', end }),
  };
}
