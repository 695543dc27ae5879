import { SettingError } from '@phalanx/settings';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

import { hostSettings, parseHostConfig } from './config.ts';

const token = { PHALANX_TOKEN: 'phx_secret' };

describe('the settings of a host', () => {
  it('need nothing but a token', () => {
    const config = parseHostConfig(token);
    expect(config).toMatchObject({
      token: 'phx_secret',
      dataDir: resolve('data'),
      adbServer: { host: '127.0.0.1', port: 5037 },
      phones: [],
      allowPrivateFetch: false,
      runMemoryMb: 128,
      runCpuSeconds: 300,
      runTimeLimitSeconds: 3600,
      warmSandboxes: 2,
      logLevel: 'info',
    });
    expect(config.serverUrl.href).toBe('http://127.0.0.1:8080/');
    expect(config.hostName).not.toBe('');
  });

  it('are frozen', () => {
    expect(Object.isFrozen(parseHostConfig(token))).toBe(true);
  });

  it('take an empty variable as not set', () => {
    expect(parseHostConfig({ ...token, PHALANX_RUN_MEMORY_MB: ' ' }).runMemoryMb).toBe(128);
  });

  it('name phones, also with IPv6 addresses, each once', () => {
    const { phones } = parseHostConfig({
      ...token,
      PHALANX_PHONES: '10.0.0.5:5555, [fe80::1]:5556,10.0.0.5:5555',
    });
    expect(phones).toEqual([
      { host: '10.0.0.5', port: 5555 },
      { host: 'fe80::1', port: 5556 },
    ]);
  });

  it('leave the ADB server out when it is off', () => {
    expect(parseHostConfig({ ...token, PHALANX_ADB_SERVER: 'off' }).adbServer).toBeUndefined();
  });

  it.each([
    ['PHALANX_TOKEN', undefined, 'PHALANX_TOKEN is not set'],
    ['PHALANX_TOKEN', 'two words', 'PHALANX_TOKEN is not a token'],
    ['PHALANX_SERVER_URL', 'localhost:8080', 'give an address such as'],
    ['PHALANX_SERVER_URL', 'ftp://server', 'give an address such as'],
    ['PHALANX_SERVER_URL', 'http://user:word@server', 'give an address such as'],
    ['PHALANX_HOST_NAME', 'x'.repeat(201), 'longer than 200 characters'],
    ['PHALANX_ADB_SERVER', '5037', 'give host:port'],
    ['PHALANX_ADB_SERVER', '127.0.0.1:0', 'give host:port'],
    ['PHALANX_PHONES', '10.0.0.5:5555,10.0.0.6', 'is "10.0.0.6": give host:port'],
    ['PHALANX_PHONES', '10.0.0.5:65536', 'give host:port'],
    ['PHALANX_ALLOW_PRIVATE_FETCH', 'yes', 'give one of true, false'],
    ['PHALANX_RUN_MEMORY_MB', '15', 'a whole number from 16 to 4096 MB'],
    ['PHALANX_RUN_MEMORY_MB', '1e3', 'a whole number from 16 to 4096 MB'],
    ['PHALANX_RUN_CPU_SECONDS', '0', 'from 1 to 86400 seconds'],
    ['PHALANX_RUN_TIME_LIMIT_SECONDS', '-1', 'from 1 to 604800 seconds'],
    ['PHALANX_WARM_SANDBOXES', '1.5', 'from 0 to 64'],
    ['PHALANX_LOG_LEVEL', 'loud', 'give one of debug, info, warn, error, silent'],
  ])('refuse %s=%s with one clear line', (name, value, problem) => {
    const parse = () => parseHostConfig({ ...token, [name]: value });
    expect(parse).toThrow(SettingError);
    expect(parse).toThrow(problem);
    expect(parse).toThrow(name);
    expect(parse).not.toThrow('\n');
  });

  it('never show the token', () => {
    expect(() => parseHostConfig({ PHALANX_TOKEN: 'phx secret' })).not.toThrow('secret');
  });

  it('have each a name of its own and a default that is valid', () => {
    const defaults = Object.fromEntries(
      hostSettings.map((setting) => [setting.name, setting.default ?? 'phx_x']),
    );
    expect(Object.keys(defaults)).toHaveLength(hostSettings.length);
    expect(() => parseHostConfig(defaults)).not.toThrow();
  });
});
