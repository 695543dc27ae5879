import { describe, expect, it } from 'vitest';

import { serial, useTestHost } from '../testing/test-host.ts';

const host = useTestHost();

describe('what a host tells of its phones', () => {
  it('tells of its phones, and which of them are ready', () => {
    const devices = host.service.arrivals.flatMap((arrival) => {
      return arrival.kind === 'hello' || arrival.kind === 'devices' ? arrival.devices : [];
    });
    expect(new Set(devices.map((device) => device.serial))).toEqual(new Set([serial]));
    expect(devices.at(-1)).toMatchObject({
      state: 'ready',
      brand: 'Phalanx',
      model: 'Simulated Phone',
      android_version: '15',
      sdk_version: 35,
      screen_width: 1080,
      screen_height: 2400,
    });
  });

  it('tells of a change, and never calls a lost phone ready again', async () => {
    await host.stop();
    host.service.heartbeatMs = 100;
    await host.reopen();
    await host.phone.stop();
    await host.service.until(() => host.lastStateOf(serial) !== 'ready');
    const lostAt = host.service.arrivals.length;
    await host.service.until(() => beatsAfter(lostAt).length >= 3);
    expect(beatsAfter(lostAt).flatMap(({ ready }) => ready)).toEqual([]);
  });

  it('tells of an unknown phone only when somebody has to act at it, and then under its own serial', async () => {
    await host.stop();
    host.phone.faults.unauthorized = true;
    const address = `${host.phone.host}:${host.phone.port}`;
    await host.open();
    await host.service.until(() => host.lastStateOf(address) === 'unauthorized');
    host.phone.faults.clear();
    host.phone.faults.drop();
    await host.service.until(() => host.lastStateOf(serial) === 'ready');
    await host.service.until(() => host.lastStateOf(address) === 'offline');
    expect(host.statesOf(address)).not.toContain('ready');
  });
});

function beatsAfter(index: number) {
  return host.service.arrivals.slice(index).filter((arrival) => arrival.kind === 'heartbeat');
}
