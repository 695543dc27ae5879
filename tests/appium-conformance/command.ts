import type { SimulatedPhone } from '@phalanx/simulated-phone';

import type { WebDriver } from './web-driver.ts';

/** Rejects where the answer, or what the phone then shows, is not what a user of Appium expects. Finds the form in front. */
export type Command = (driver: WebDriver, phone: SimulatedPhone) => Promise<void>;
export type Commands = Readonly<Record<string, Command>>;
