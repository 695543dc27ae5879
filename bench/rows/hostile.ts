import { secondReport } from '../attacks/all-attacks.ts';
import { hostAttacks } from '../attacks/host-attacks.ts';
import { surfaceAttacks } from '../attacks/surface-attacks.ts';
import { attackRow } from './under-attack.ts';

/** One attack of each kind: streams, lists, checks, patterns, bodies, runs. */
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
    title: 'attacks of one user, alone and six together, that others feel no more',
  },
  [...secondReport, ...surfaceAttacks, ...hostAttacks],
  together,
);
