import { Retries } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';
import { minuteMs } from '../../kernel/durations.ts';

const retries = Compile(Retries);
export const readRetries = (json: string): Retries => retries.Parse(JSON.parse(json));

const firstPauseMs = 2000;
const factor = 4;
const maxPauseMs = 10 * minuteMs;

/** How long a task waits after so many attempts, spread so that those of one failure do not come back together. */
export const pauseAfter = (attempts: number, random: () => number = Math.random): number =>
  Math.round(Math.min(maxPauseMs, firstPauseMs * factor ** (attempts - 1)) * (0.75 + random() / 2));
