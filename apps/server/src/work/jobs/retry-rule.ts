import { Retries } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';
import { backoffMs } from '@phalanx/timing/backoff';
import { minuteMs } from '@phalanx/timing/durations';

const retries = Compile(Retries);
export const readRetries = (json: string): Retries => retries.Parse(JSON.parse(json));

const backoff = { firstMs: 2000, factor: 4, maxMs: 10 * minuteMs, jitter: 0.25 };

/** Returns the backoff of a task after `attempts` attempts, ms. */
export const pauseAfter = (attempts: number, random?: number): number => backoffMs(backoff, attempts, random);
