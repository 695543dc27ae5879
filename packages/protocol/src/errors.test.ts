import { describe, expect, it } from 'vitest';

import { errorMessage, errorTable, type ErrorCode, type ErrorDetails } from './errors.ts';

const rows = Object.entries(errorTable).map(([code, { status, message }]) => ({ code, status, message }));

describe('the error table', () => {
  it.each(rows)('has a code, a status and a sentence for $code', ({ code, status, message }) => {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(600);
    expect(message).toMatch(/^[A-Za-z{].*[.>"]$/s);
  });

  it.each(rows)('fills every place of the message of $code', ({ code, message }) => {
    const names = [...new Set([...message.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? ''))];
    const details = Object.fromEntries(names.map((name, at) => [name, `value-${at}`]));
    const text = errorMessage(code as ErrorCode, details as ErrorDetails<ErrorCode>);
    expect(text).not.toMatch(/\{\w+\}|undefined/);
    for (const at of names.keys()) expect(text).toContain(`value-${at}`);
  });

  it('takes what is filled in as it is', () => {
    expect(errorMessage('device_not_found', { device_id: '$& {device_id} $1' })).toBe(
      'Device $& {device_id} $1 was not found.',
    );
  });
});
