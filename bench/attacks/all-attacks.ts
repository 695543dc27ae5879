import { gitAttacks, pushAttacks } from './git-attacks.ts';
import { hostAttacks } from './host-attacks.ts';
import { loadAttacks } from './load-attacks.ts';
import { requestAttacks } from './request-attacks.ts';
import { surfaceAttacks } from './surface-attacks.ts';

/** Attacks of the report on the first release. */
export const firstReport = [...requestAttacks, ...gitAttacks];
/** Attacks of the report on the second release: effects of one user on all others. */
export const secondReport = [...loadAttacks, ...pushAttacks];
export const allAttacks = [...firstReport, ...secondReport, ...surfaceAttacks, ...hostAttacks];
