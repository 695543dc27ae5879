import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path, { resolve } from 'node:path';

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
    ['PHALANX_LOG_FORMAT', '', { logFormat: undefined }],
    ['PHALANX_LOG_FORMAT', 'text', { logFormat: 'text' }],
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
    ['PHALANX_LOG_FORMAT', 'xml'],
    ['PHALANX_FILE_URL', 'phones.example'],
    ['PHALANX_FILE_URL', 'ftp://phones.example'],
    ['PHALANX_FILE_URL', 'https://me:secret@phones.example'],
    ['PHALANX_FILE_URL', 'https://phones.example/?a=b'],
    ['PHALANX_RECORDS_KEPT', '0'],
    ['PHALANX_WEBHOOK_NETWORKS', '10.0.0.0/33'],
    ['PHALANX_WEBHOOK_NETWORKS', 'intranet'],
  ])('%s=%s stops the start with one line that names the setting', (name, value) => {
    expect(() => parseServerConfig({ [name]: value })).toThrow(SettingError);
    expect(() => parseServerConfig({ [name]: value })).toThrow(new RegExp(`^${name} is [^\\n]+$`));
  });

  const s3 = {
    PHALANX_S3_ENDPOINT: 'https://s3.example',
    PHALANX_S3_BUCKET: 'phalanx',
    PHALANX_S3_ACCESS_KEY: 'access',
    PHALANX_S3_SECRET_KEY: 'secret',
  };

  it('of an S3 storage come together, and the secret key may be in a file', async () => {
    expect(parseServerConfig({}).s3).toBeUndefined();
    const expected = { bucket: 'phalanx', region: 'us-east-1', accessKey: 'access', secretKey: 'secret' };
    expect(parseServerConfig(s3).s3).toMatchObject(expected);
    const file = path.join(await mkdtemp(path.join(tmpdir(), 'phalanx-config-')), 'key');
    await writeFile(file, 'secret\n');
    const ofFile = { ...s3, PHALANX_S3_SECRET_KEY: '', PHALANX_S3_SECRET_KEY_FILE: file };
    expect(parseServerConfig(ofFile).s3).toMatchObject(expected);
    await rm(path.dirname(file), { recursive: true });
    expect(() => parseServerConfig(ofFile)).toThrow(/The file of PHALANX_S3_SECRET_KEY_FILE cannot be read/);
  });

  it.each(Object.keys(s3))('of an S3 storage without %s stop the start', (name) => {
    expect(() => parseServerConfig({ ...s3, [name]: '' })).toThrow(new RegExp(`${name}( is|: set both)`));
  });

  it.each([
    ['PHALANX_S3_ENDPOINT', 's3.example'],
    ['PHALANX_S3_BUCKET', 'two/parts'],
    ['PHALANX_S3_REGION', 'eu central'],
    ['PHALANX_S3_SECRET_KEY', 'with spaces'],
  ])('%s=%s stops the start, and the secret key is not told', (name, value) => {
    const parse = () => parseServerConfig({ ...s3, [name]: value });
    expect(parse).toThrow(new RegExp(`^${name} is [^\\n]+$`));
    expect(parse).not.toThrow(/with spaces in it|secret"/);
  });

  it('never repeat the administrator’s token in a message', () => {
    expect(() => parseServerConfig({ PHALANX_ADMIN_TOKEN: 'short-secret' })).not.toThrow(/short-secret/);
  });
});
