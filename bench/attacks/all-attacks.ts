import { gitAttacks, pushAttacks } from './git-attacks.ts';
import { hostAttacks } from './host-attacks.ts';
import { loadAttacks } from './load-attacks.ts';
import { requestAttacks } from './request-attacks.ts';
import { surfaceAttacks } from './surface-attacks.ts';

/** The report on the first release. */
export const firstReport = [...requestAttacks, ...gitAttacks];
/** The report on the second one: what one user did to all others. */
export const secondReport = [...loadAttacks, ...pushAttacks];
export const allAttacks = [...firstReport, ...secondReport, ...surfaceAttacks, ...hostAttacks];
