import { Type, type Static } from 'typebox';
import { Labels, Selector } from '../../phones/device-selector.ts';
import { Id } from '../../ids.ts';
import { success, SuccessMessage, type RouteContract } from '../contract.ts';
import { Device } from './devices.ts';
import { pageOf, pageQuery } from '../page.ts';

const params = Type.Object({ id: Id });
const poolName = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '^[^,|]*$',
  description: 'Name of the pool, unique among your pools, case-insensitive; without comma and `|`',
  examples: ['berlin-pixels'],
});

/** Saved selector. */
export const Pool = Type.Object(
  {
    name: poolName,
    selector: Selector,
    devices: Type.Object(
      { total: Type.Integer(), ready: Type.Integer() },
      { description: 'Number of devices that it selects now, and how many of them are ready' },
    ),
  },
  { title: 'Pool' },
);
export type Pool = Static<typeof Pool>;

/** Names and labels of phones, and saved selectors. */
export const labelRoutes = {
  renameDevice: {
    method: 'PATCH',
    path: '/api/v2/devices/:id',
    operationId: 'renameDevice',
    tag: 'Devices',
    summary: 'Rename a device (owner)',
    description: 'An empty name removes the name: the device is then shown by maker and model.',
    scope: 'edit',
    reach: { projects: 'refused', phones: 'refused' },
    audit: 'rename_device',
    params,
    body: Type.Object({ name: Type.String({ maxLength: 100, examples: ['Shelf 3, left'] }) }),
    responses: { 200: Type.Object({ success, device: Device }) },
    errors: ['device_not_found'],
  },
  putDeviceLabels: {
    method: 'PUT',
    path: '/api/v2/devices/:id/labels',
    operationId: 'putDeviceLabels',
    tag: 'Devices',
    summary: 'Replace the labels of a device (owner)',
    description: 'A label of the device overrides a label of its host with the same key.',
    scope: 'edit',
    reach: { projects: 'refused', phones: 'refused' },
    audit: 'label_device',
    params,
    body: Type.Object({ labels: Labels }),
    responses: { 200: Type.Object({ success, labels: Labels }) },
    errors: ['device_not_found', 'invalid_labels'],
  },
  putHostLabels: {
    method: 'PUT',
    path: '/api/v2/hosts/:id/labels',
    operationId: 'putHostLabels',
    tag: 'Devices',
    summary: 'Replace the labels of a host, which all of its devices inherit (owner)',
    scope: 'edit',
    reach: { projects: 'refused', phones: 'refused' },
    audit: 'label_host',
    params,
    body: Type.Object({ labels: Labels }),
    responses: { 200: Type.Object({ success, labels: Labels }) },
    errors: ['host_not_found', 'invalid_labels'],
  },
} as const satisfies Record<string, RouteContract>;

export const poolRoutes = {
  list: {
    method: 'GET',
    path: '/api/v2/pools',
    operationId: 'listPools',
    tag: 'Devices',
    summary: 'List your pools: saved selectors, each with the number of devices that it selects now',
    scope: 'read',
    reach: { projects: 'open', phones: 'refused' },
    query: Type.Object(pageQuery),
    responses: { 200: pageOf({ pools: Type.Array(Pool) }) },
  },
  put: {
    method: 'PUT',
    path: '/api/v2/pools/:name',
    operationId: 'putPool',
    tag: 'Devices',
    summary: 'Create a pool, or change its selector',
    description:
      'Selectors of jobs and schedules refer to the pool as `pool=NAME`, which is evaluated each time.',
    scope: 'edit',
    reach: { projects: 'refused', phones: 'refused' },
    audit: 'save_pool',
    params: Type.Object({ name: poolName }),
    body: Type.Object({ selector: Selector }),
    responses: { 200: Type.Object({ success, pool: Pool }) },
    errors: ['invalid_selector', 'too_many_pools'],
  },
  delete: {
    method: 'DELETE',
    path: '/api/v2/pools/:name',
    operationId: 'deletePool',
    tag: 'Devices',
    summary: 'Delete a pool',
    scope: 'edit',
    reach: { projects: 'refused', phones: 'refused' },
    audit: 'delete_pool',
    params: Type.Object({ name: poolName }),
    responses: { 200: SuccessMessage },
    errors: ['pool_not_found'],
  },
} as const satisfies Record<string, RouteContract>;
