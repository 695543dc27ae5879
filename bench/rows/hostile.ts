import { secondReport } from '../attacks/all-attacks.ts';
import { attackRow } from './under-attack.ts';

/** One of each kind: streams, lists, checks, patterns, bodies, runs. */
const together = [
  'unread-streams',
  'device-lists',
  'heavy-types',
  'slow-pattern',
  'large-bodies',
  'log-search',
];

export const hostile = attackRow(
  {
    name: 'hostile',
    title: 'attacks of the second report, alone and six together, that others feel no more',
  },
  secondReport,
  together,
);
