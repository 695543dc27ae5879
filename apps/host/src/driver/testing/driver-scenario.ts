import { expect } from 'vitest';
import type { Driver } from '../driver.ts';

/** Behaviour of every driver, however it reaches and reads the phone. */
export interface DriverScenario {
  readonly behaviour: string;
  /** Sources that have the behaviour; undefined for all. */
  readonly only?: readonly Driver['source'][];
  run(driver: Driver): Promise<void>;
}

export const fail = (code: string): unknown => expect.objectContaining({ name: 'DriverError', code });
