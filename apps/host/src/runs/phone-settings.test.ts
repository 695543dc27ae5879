import { isDeepStrictEqual } from 'node:util';
import type { PhoneSettings } from '@phalanx/protocol';
import type { SimulatedPhone } from '@phalanx/simulated-phone';
import { describe, expect, it } from 'vitest';

import { until } from '../testing/until.ts';
import { useTestHost } from '../testing/test-host.ts';

const host = useTestHost();
const app = 'dev.phalanx.sample.form';
const wanted: Required<PhoneSettings> = {
  http_proxy: '10.0.0.5:3128',
  time_zone: 'Asia/Kolkata',
  locale: { [app]: 'de-DE' },
  location: { latitude: 52.52, longitude: 13.4 },
  brightness: 0,
  heads_up: false,
};
const asWanted = {
  proxy: '10.0.0.5:3128',
  zone: 'Asia/Kolkata',
  autoZone: '0',
  locale: 'de-DE',
  fix: { latitude: 52.52, longitude: 13.4, accuracy: 5 },
  brightness: '0',
  brightnessMode: '0',
  headsUp: '0',
};
const waits = "console.log('begun'); await new Promise((resolve) => setTimeout(resolve, 600_000));";

function settingsOf({ android }: SimulatedPhone) {
  const { settings, properties, packages, locations } = android;
  const [global, system] = [settings.findTable('global'), settings.findTable('system')];
  return {
    proxy: settings.httpProxy,
    zone: properties.get('persist.sys.timezone'),
    autoZone: global?.get('auto_time_zone'),
    locale: packages.localesOf(app),
    fix: locations.fixOf('gps'),
    isLocationOn: locations.isOn,
    mockMode: locations.mockMode,
    brightness: system?.get('screen_brightness'),
    brightnessMode: system?.get('screen_brightness_mode'),
    headsUp: global?.get('heads_up_notifications_enabled'),
    window: global?.get('window_animation_scale'),
    animator: global?.get('animator_duration_scale'),
  };
}

/** Sets unusual values: the host must restore exactly these values. */
function arrange({ android }: SimulatedPhone): ReturnType<typeof settingsOf> {
  const { settings, properties, packages, locations } = android;
  const [global, system] = [settings.findTable('global'), settings.findTable('system')];
  if (global !== undefined) settings.put(global, 'http_proxy', 'proxy.example:8080');
  global?.set('window_animation_scale', '0.5');
  global?.delete('animator_duration_scale');
  system?.set('screen_brightness', '77');
  properties.set('persist.sys.timezone', 'America/Lima');
  packages.setLocales(app, 'fr-FR,en-US');
  locations.isOn = false;
  locations.mockMode = 'ignore';
  return settingsOf(host.phone);
}

const begun = (runId: string): Promise<void> =>
  host.service.until(() => host.service.messages(runId).length > 0);
/** Waits until the settings are restored, and no work is left. */
const putBack = (before: object): Promise<unknown> =>
  until(
    'the settings as they were',
    async () => ({ now: settingsOf(host.phone), kept: host.keysOf('earlier_settings') }),
    ({ now, kept }) => isDeepStrictEqual(now, before) && kept.length === 0,
  );

describe('settings that a run wants of its phone', () => {
  it.each(['is stopped', 'fails'])(
    'are there before its first line, and put back when it %s',
    async (how) => {
      const before = arrange(host.phone);
      const code = how === 'fails' ? "throw new Error('on purpose')" : waits;
      host.service.permitsRuns = false;
      const runId = host.launchWith(wanted, code);
      await host.service.until(() =>
        host.service.reportsOf(runId).some(({ is_loaded }) => is_loaded === true),
      );
      const seen = settingsOf(host.phone);
      host.service.permitsRuns = true;
      host.service.permit([runId]);
      if (how === 'is stopped') {
        await begun(runId);
        host.service.send({ type: 'stop', run_ids: [runId] });
      }
      await host.service.untilEnded(runId);
      expect(seen).toMatchObject(asWanted);
      expect(settingsOf(host.phone)).toEqual(before);
      expect(host.keysOf('earlier_settings')).toEqual([]);
    },
  );

  it('are put back when the phone comes back that was away when the run ended, and restarted', async () => {
    const before = arrange(host.phone);
    const runId = host.launchWith(wanted, waits);
    await begun(runId);
    host.phone.faults.offline = true;
    host.phone.faults.drop();
    await host.service.until(() => host.lastStateOf(host.phone.serial) !== 'ready');
    host.service.send({ type: 'stop', run_ids: [runId] });
    await host.service.untilEnded(runId);
    expect(settingsOf(host.phone)).toMatchObject(asWanted);
    host.phone.faults.offline = false;
    host.phone.faults.reboot();
    await putBack(before);
  });

  it('hold through a restart of the phone while the run goes on', async () => {
    arrange(host.phone);
    const runId = host.launchWith({ location: wanted.location, time_zone: wanted.time_zone }, waits);
    await begun(runId);
    host.phone.faults.reboot();
    expect(settingsOf(host.phone).fix).toBeUndefined();
    await until('the location', () => settingsOf(host.phone).fix);
    expect(settingsOf(host.phone)).toMatchObject({ zone: asWanted.zone, fix: asWanted.fix });
  });

  it('of two runs are put back with the last of them that wants them', async () => {
    const before = arrange(host.phone);
    const first = host.launchWith({ http_proxy: wanted.http_proxy, brightness: 0 }, waits);
    await begun(first);
    const second = host.launchWith({ http_proxy: '10.0.0.6:3128' }, waits);
    await begun(second);
    host.service.send({ type: 'stop', run_ids: [first] });
    await host.service.untilEnded(first);
    expect(settingsOf(host.phone)).toEqual({ ...before, proxy: '10.0.0.6:3128' });
    host.service.send({ type: 'stop', run_ids: [second] });
    await host.service.untilEnded(second);
    expect(settingsOf(host.phone)).toEqual(before);
  });

  it('are set by code, too, with the animations', async () => {
    const before = arrange(host.phone);
    const runId = host.launch(`
      await agent.actions.setAnimations(false);
      await agent.actions.setPhoneSettings({
        httpProxy: '10.0.0.5:3128', timeZone: 'Asia/Kolkata', locale: { '${app}': 'de-DE' },
        location: { latitude: 52.52, longitude: 13.4 }, brightness: 0, headsUp: false,
      });
      await agent.actions.setPhoneSettings({ brightness: 300 }).catch(({ code }) => console.log(code));
      ${waits}
    `);
    await host.service.until(() => host.service.messages(runId).includes('begun'));
    expect(host.service.messages(runId)[0]).toBe('invalid_call');
    expect(settingsOf(host.phone)).toMatchObject({ ...asWanted, window: '0', animator: '0' });
    host.service.send({ type: 'stop', run_ids: [runId] });
    await host.service.untilEnded(runId);
    expect(settingsOf(host.phone)).toEqual(before);
  });

  it.each([
    [{ time_zone: 'Europe/Nowhere' }, 'setting_refused', 'its Android may not know Europe/Nowhere'],
    [
      { locale: { 'com.example.none': 'de' }, brightness: 0 },
      'setting_refused',
      'Unknown package com.example.none',
    ],
  ])('that the phone does not take, %j, fail the run before any code ran', async (settings, code, part) => {
    const before = arrange(host.phone);
    const runId = host.launchWith(settings, "console.log('ran')");
    const end = await host.service.untilEnded(runId);
    expect(end).toMatchObject({ status: 'failed', started_at: null, error: { code } });
    expect(end.error?.message).toContain(part);
    expect(host.service.messages(runId)).not.toContain('ran');
    expect(settingsOf(host.phone)).toEqual(before);
  });

  it('that a maker keeps from the shell are refused with what to do', async () => {
    host.phone.faults.restrictedDebugging = true;
    const runId = host.launchWith({ http_proxy: wanted.http_proxy }, "console.log('ran')");
    const { error } = await host.service.untilEnded(runId);
    expect([error?.code, error?.message]).toEqual([
      'setting_refused',
      expect.stringMatching(/WRITE_SECURE_SETTINGS.*Security settings/s),
    ]);
  });
});
