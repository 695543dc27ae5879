import { Type, type Static } from 'typebox';

import { Id } from '../../ids.ts';
import { success, type RouteContract } from '../contract.ts';

/** Pairing of a phone with the ADB server of a host, by a code that the phone scans. */
export const Pairing = Type.Object(
  {
    id: Type.String({
      maxLength: 100,
      description: 'ID of the pairing, which its host keeps for ten minutes',
    }),
    state: Type.Enum(['waiting', 'pairing', 'connecting', 'connected', 'failed'], {
      description: '`waiting`: no device has scanned the code yet',
    }),
    reason: Type.String({
      maxLength: 2000,
      description: 'Explanation of the state in a sentence, with what to do',
    }),
    serial: Type.Union([Type.String({ maxLength: 200 }), Type.Null()], {
      description: 'Serial number of the device, once it is paired; null before',
    }),
  },
  { title: 'Pairing' },
);
export type Pairing = Static<typeof Pairing>;

const errors = ['host_not_found', 'host_offline', 'pairing_failed'] as const;

/** Pairing by Android's wireless debugging: "Pair device with QR code". */
export const pairingRoutes = {
  start: {
    method: 'POST',
    path: '/api/v2/hosts/:id/pairings',
    operationId: 'startPairing',
    tag: 'Devices',
    summary: 'Start to pair a device with the ADB server of a host by a QR code (owner)',
    description:
      'Show `code` as a QR code. On the phone, open Developer options, Wireless debugging, "Pair device with QR code". Phone and host must be in the same network.',
    scope: 'edit',
    reach: { projects: 'refused', phones: 'refused' },
    audit: 'pair_phone',
    params: Type.Object({ id: Id }),
    responses: {
      201: Type.Object({
        success,
        pairing: Pairing,
        code: Type.String({
          description: 'Content of the QR code. Keep it secret: any device that has it can be paired instead',
        }),
      }),
    },
    errors,
  },
  get: {
    method: 'GET',
    path: '/api/v2/hosts/:id/pairings/:pairing_id',
    operationId: 'getPairing',
    tag: 'Devices',
    summary: 'Read the state of a pairing (owner)',
    scope: 'read',
    reach: { projects: 'refused', phones: 'refused' },
    params: Type.Object({ id: Id, pairing_id: Type.String({ minLength: 1, maxLength: 100 }) }),
    responses: { 200: Type.Object({ success, pairing: Pairing }) },
    errors: [...errors, 'pairing_not_found'],
  },
} as const satisfies Record<string, RouteContract>;
