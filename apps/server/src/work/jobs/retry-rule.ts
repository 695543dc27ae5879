import { Retries } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';
import { backoffMs } from '../../kernel/backoff.ts';
import { minuteMs } from '../../kernel/durations.ts';

const retries = Compile(Retries);
export const readRetries = (json: string): Retries => retries.Parse(JSON.parse(json));

const backoff = { firstMs: 2000, factor: 4, maxMs: 10 * minuteMs, jitter: 0.25 };

/** Returns how long a task waits after so many attempts. */
export const pauseAfter = (attempts: number, random?: number): number => backoffMs(backoff, attempts, random);
