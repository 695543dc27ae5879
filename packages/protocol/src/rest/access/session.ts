import { Type } from 'typebox';

import { EpochMs } from '../../ids.ts';
import { success, SuccessMessage, type RouteContract } from '../contract.ts';

const secret = Type.String({ minLength: 1, maxLength: 500 });

/** Signing in with a browser: a cookie stands for the token from then on. */
export const sessionRoutes = {
  create: {
    method: 'POST',
    path: '/api/v2/session',
    operationId: 'signIn',
    tag: 'Account',
    summary: 'Sign a browser in with a token, or with a sign-in link of the terminal',
    description:
      'The reply sets a cookie that scripts can’t read. Pages of this service alone may use it: every request with it is looked at for where it comes from. It ends after 12 hours without use, after 7 days, with its token, and by signing out.',
    scope: null,
    audit: 'sign_in',
    body: Type.Object({
      token: Type.Optional(secret),
      link: Type.Optional(Type.String({ minLength: 1, maxLength: 500, description: 'Works once' })),
    }),
    bodyExample: { token: 'phx_…' },
    responses: { 201: Type.Object({ success, expires_at: EpochMs }) },
    errors: ['unauthorized', 'foreign_page', 'misdirected_request'],
  },
  delete: {
    method: 'DELETE',
    path: '/api/v2/session',
    operationId: 'signOut',
    tag: 'Account',
    summary: 'Sign this browser out',
    description: 'The token that it signed in with stays as it is.',
    scope: 'read',
    audit: 'sign_out',
    responses: { 200: SuccessMessage },
  },
} as const satisfies Record<string, RouteContract>;
