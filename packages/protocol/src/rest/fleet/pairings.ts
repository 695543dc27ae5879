import { Type, type Static } from 'typebox';

import { Id } from '../../ids.ts';
import { success, type RouteContract } from '../contract.ts';

/** A phone that is paired with the ADB server of a host by a code that it scans. */
export const Pairing = Type.Object(
  {
    id: Type.String({ maxLength: 100, description: 'Kept by its host for some minutes' }),
    state: Type.Enum(['waiting', 'pairing', 'connecting', 'connected', 'failed'], {
      description: '`waiting`: until a phone scans the code',
    }),
    reason: Type.String({ maxLength: 2000, description: 'The state in a sentence that says what to do' }),
    serial: Type.Union([Type.String({ maxLength: 200 }), Type.Null()], {
      description: 'Of the phone, as soon as it is paired',
    }),
  },
  { title: 'Pairing' },
);
export type Pairing = Static<typeof Pairing>;

const errors = ['host_not_found', 'host_offline', 'pairing_failed'] as const;

/** Android's wireless debugging: "Pair device with QR code". */
export const pairingRoutes = {
  start: {
    method: 'POST',
    path: '/api/v2/hosts/:id/pairings',
    operationId: 'startPairing',
    tag: 'Devices',
    summary: 'Have the ADB server of a host wait for a phone that scans a code (owner)',
    description:
      'Show `code` as a QR code. On the phone: Developer options, Wireless debugging, "Pair device with QR code". Phone and host are in the same network.',
    scope: 'edit',
    reach: { projects: 'refused', phones: 'refused' },
    audit: 'pair_phone',
    params: Type.Object({ id: Id }),
    responses: {
      201: Type.Object({
        success,
        pairing: Pairing,
        code: Type.String({ description: 'Whoever has it can be paired instead of the phone' }),
      }),
    },
    errors,
  },
  get: {
    method: 'GET',
    path: '/api/v2/hosts/:id/pairings/:pairing_id',
    operationId: 'getPairing',
    tag: 'Devices',
    summary: 'Read how far a pairing is (owner)',
    scope: 'read',
    reach: { projects: 'refused', phones: 'refused' },
    params: Type.Object({ id: Id, pairing_id: Type.String({ minLength: 1, maxLength: 100 }) }),
    responses: { 200: Type.Object({ success, pairing: Pairing }) },
    errors: [...errors, 'pairing_not_found'],
  },
} as const satisfies Record<string, RouteContract>;
