import { Type } from 'typebox';

import { success, type RouteContract } from '../contract.ts';
import { ofAdministrators } from '../reach.ts';

export const healthRoutes = {
  alive: {
    method: 'GET',
    path: '/healthz',
    operationId: 'healthz',
    tag: 'Service',
    summary: 'Check that the process is alive',
    scope: null,
    reach: null,
    responses: { 200: Type.Object({ success }) },
  },
  ready: {
    method: 'GET',
    path: '/readyz',
    operationId: 'readyz',
    tag: 'Service',
    summary: 'Check that the service accepts requests: its database answers and it is not shutting down',
    scope: null,
    reach: null,
    responses: { 200: Type.Object({ success }) },
    errors: ['not_ready'],
  },
  metrics: {
    method: 'GET',
    path: '/metrics',
    operationId: 'metrics',
    tag: 'Service',
    summary: 'Read the metrics in the text format of Prometheus (administrators)',
    scope: 'admin',
    reach: ofAdministrators,
    responses: { 200: ['text/plain'], 304: [] },
  },
} as const satisfies Record<string, RouteContract>;
