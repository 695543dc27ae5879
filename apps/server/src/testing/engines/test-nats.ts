import { askForEngine } from './shared-engine.ts';
import { stringAt } from '../string-at.ts';

/** Address of the NATS of this run of the tests. */
export const getNatsUrl = async (): Promise<string> => stringAt(await askForEngine('nats'), 'url');
