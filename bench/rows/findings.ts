import { firstReport } from '../attacks/all-attacks.ts';
import { attackRow } from './under-attack.ts';

/** Row of the report on the first release. */
export const findings = attackRow(
  { name: 'findings', title: 'attacks of the first report that others feel no more' },
  firstReport,
  [],
);
