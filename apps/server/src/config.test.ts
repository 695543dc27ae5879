import { resolve } from 'node:path';

import { SettingError } from '@phalanx/settings';
import { describe, expect, it } from 'vitest';

import { parseServerConfig } from './config.ts';

describe('the settings', () => {
  it('have defaults that work on a laptop', () => {
    expect(parseServerConfig({})).toMatchObject({
      listen: { host: '127.0.0.1', port: 8080 },
      dataDir: resolve('data'),
      adminToken: undefined,
      lostAfterMs: 120_000,
      historyDays: 30,
      fileUrl: undefined,
      recordsKept: 1000,
    });
  });

  it.each<[string, string, object]>([
    ['PHALANX_LISTEN', '0.0.0.0:80', { listen: { host: '0.0.0.0', port: 80 } }],
    ['PHALANX_LISTEN', '[::1]:8080', { listen: { host: '::1', port: 8080 } }],
    ['PHALANX_LISTEN', 'phones.example:65535', { listen: { host: 'phones.example', port: 65_535 } }],
    ['PHALANX_LISTEN', '', { listen: { host: '127.0.0.1', port: 8080 } }],
    ['PHALANX_DATA_DIR', '/var/lib/phalanx', { dataDir: '/var/lib/phalanx' }],
    ['PHALANX_ADMIN_TOKEN', 'x'.repeat(32), { adminToken: 'x'.repeat(32) }],
    ['PHALANX_LOST_AFTER_SECONDS', '1', { lostAfterMs: 1000 }],
    ['PHALANX_HISTORY_DAYS', '3650', { historyDays: 3650 }],
    ['PHALANX_LOG_LEVEL', 'warn', { logLevel: 'warn' }],
    ['PHALANX_FILE_URL', '', { fileUrl: undefined }],
    ['PHALANX_FILE_URL', 'https://phones.example/', { fileUrl: 'https://phones.example' }],
    ['PHALANX_FILE_URL', 'http://10.0.0.1:81/a/b', { fileUrl: 'http://10.0.0.1:81/a/b' }],
    ['PHALANX_RECORDS_KEPT', '5', { recordsKept: 5 }],
  ])('%s=%s is understood', (name, value, expected) => {
    expect(parseServerConfig({ [name]: value })).toMatchObject(expected);
  });

  it.each([
    ['PHALANX_LISTEN', '8080'],
    ['PHALANX_LISTEN', 'localhost'],
    ['PHALANX_LISTEN', 'localhost:65536'],
    ['PHALANX_LISTEN', '::1:8080'],
    ['PHALANX_LISTEN', 'local host:80'],
    ['PHALANX_LISTEN', 'http://localhost:80'],
    ['PHALANX_ADMIN_TOKEN', 'x'.repeat(31)],
    ['PHALANX_ADMIN_TOKEN', 'with spaces in it, which no header can carry'],
    ['PHALANX_ADMIN_TOKEN', 'é'.repeat(32)],
    ['PHALANX_LOST_AFTER_SECONDS', '0'],
    ['PHALANX_LOST_AFTER_SECONDS', '1.5'],
    ['PHALANX_LOST_AFTER_SECONDS', '-1'],
    ['PHALANX_HISTORY_DAYS', 'forever'],
    ['PHALANX_HISTORY_DAYS', '1e3'],
    ['PHALANX_LOG_LEVEL', 'loud'],
    ['PHALANX_FILE_URL', 'phones.example'],
    ['PHALANX_FILE_URL', 'ftp://phones.example'],
    ['PHALANX_FILE_URL', 'https://me:secret@phones.example'],
    ['PHALANX_FILE_URL', 'https://phones.example/?a=b'],
    ['PHALANX_RECORDS_KEPT', '0'],
  ])('%s=%s stops the start with one line that names the setting', (name, value) => {
    expect(() => parseServerConfig({ [name]: value })).toThrow(SettingError);
    expect(() => parseServerConfig({ [name]: value })).toThrow(new RegExp(`^${name} is [^\\n]+$`));
  });

  it('never repeat the administrator’s token in a message', () => {
    expect(() => parseServerConfig({ PHALANX_ADMIN_TOKEN: 'short-secret' })).not.toThrow(/short-secret/);
  });
});
