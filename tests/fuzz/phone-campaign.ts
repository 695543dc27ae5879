import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { until } from '@phalanx/host/testing/until';
import { type SimulatedPhone, startSimulatedPhone } from '@phalanx/simulated-phone';
import fc from 'fast-check';

import { stringAt } from '../../apps/server/src/testing/string-at.ts';
import { Program } from '../support/program.ts';
import { TamperingPhone } from './tampering-phone.ts';
import { tamperings } from './tampered-messages.ts';
import { World } from './world.ts';

interface PhoneOutcome {
  violations: string[];
  /** Number of messages that were or may have been changed. */
  changed: number;
  /** Number of replies by status to requests for the tampered phone. */
  statuses: Map<number, number>;
}

/** Calls everything that an automation can request of a phone; each call may fail. */
const code = `
const attempts = [
  () => agent.screen.content(), () => agent.screen.screenshot(), () => agent.device.info(),
  () => agent.input.tap({ x: 5, y: 5 }), () => agent.input.text({ text: 'a' }), () => agent.app.current(),
  () => agent.app.launch({ packageName: 'com.android.settings' }), () => agent.navigate.home(),
];
for (const attempt of attempts) try { await attempt(); } catch {}
`;

/** Real host with two phones at a real service. Messages of one phone are tampered with. */
export class PhoneWorld {
  readonly world: World;
  readonly host: Program;
  readonly tampering: TamperingPhone;
  readonly #honest: SimulatedPhone;
  tamperedId = '';
  honestId = '';

  private constructor(world: World, tampering: TamperingPhone, honest: SimulatedPhone) {
    this.world = world;
    this.tampering = tampering;
    this.#honest = honest;
    this.host = new Program(['host'], {
      PHALANX_SERVER_URL: world.url,
      PHALANX_TOKEN: world.attacker.token,
      PHALANX_DATA_DIR: path.join(world.folder, 'host'),
      PHALANX_PHONES: [tampering, honest].map((phone) => `${phone.host}:${phone.port}`).join(','),
      PHALANX_ADB_SERVER: 'off',
      PHALANX_LOG_LEVEL: 'warn',
    });
  }

  static async create(): Promise<PhoneWorld> {
    const world = await World.create();
    const honest = await startSimulatedPhone({ serial: 'HONEST' });
    const phones = new PhoneWorld(world, await TamperingPhone.start('TAMPERED'), honest);
    await phones.settle().catch(async (error: unknown) => {
      await phones.close();
      throw error;
    });
    return phones;
  }

  async settle(): Promise<void> {
    [this.tamperedId = '', this.honestId = ''] = await until(
      'two ready phones',
      () => Promise.all(['TAMPERED', 'HONEST'].map((serial) => this.#readyId(serial))),
      (ids) => ids.every(Boolean) || this.host.hasExited,
    );
    if (this.host.hasExited) throw new Error(`the host has ended:\n${this.host.output}`);
  }

  /** Sends a request. Returns the status of the reply. */
  async ask(deviceId: string, method: string, what: string, body?: unknown): Promise<number> {
    const { api } = this.world.attacker;
    const where = `/api/v2/devices/${deviceId}/${what}`;
    return (await api(method, where, body === undefined ? {} : { body })).status;
  }

  async launch(deviceId: string): Promise<number> {
    const body = { device_id: deviceId, launch_id: randomUUID(), command: 'start', code };
    const { status } = await this.world.attacker.api('POST', '/api/v2/devices/launchDirectAutomation', {
      body,
    });
    return status;
  }

  async close(): Promise<void> {
    await this.host.end();
    await Promise.all([this.tampering.stop(), this.#honest.stop()]);
    await this.world.close();
  }

  async #readyId(serial: string): Promise<string> {
    const { body } = await this.world.attacker.api('GET', '/api/v2/devices?limit=100');
    const all: unknown[] = Array.isArray(body['devices']) ? body['devices'] : [];
    const found = all.find((one) => stringAt(one, 'serial') === serial);
    const isReady = found !== undefined && ['ready', 'busy'].includes(stringAt(found, 'state'));
    return isReady ? stringAt(found, 'device_id') : '';
  }
}

/**
 * Tampers with messages to the host while all features of that phone are used. The other phone must not be affected.
 */
export async function fuzzPhone(
  phones: PhoneWorld,
  options: { seed: number; tampered: number },
): Promise<PhoneOutcome> {
  const { tampering } = phones;
  const outcome: PhoneOutcome = { violations: [], changed: 0, statuses: new Map() };
  const before = tampering.changed;
  tampering.begin(fc.sample(tamperings, { numRuns: options.tampered, seed: options.seed }));
  while (tampering.changed - before < options.tampered && !phones.host.hasExited) {
    for (const status of await askAll(phones, phones.tamperedId)) {
      outcome.statuses.set(status, (outcome.statuses.get(status) ?? 0) + 1);
      if (status >= 500 && ![502, 503].includes(status)) outcome.violations.push(`answered ${status}`);
    }
    const honest = await phones.ask(phones.honestId, 'GET', 'screen');
    if (honest !== 200) outcome.violations.push(`the phone beside it: ${honest}`);
  }
  outcome.changed = tampering.changed - before;
  outcome.violations.push(...(await aftermath(phones)));
  return outcome;
}

const askAll = (phones: PhoneWorld, id: string): Promise<number[]> =>
  Promise.all([
    phones.ask(id, 'GET', 'screen'),
    phones.ask(id, 'GET', 'screenshot'),
    phones.ask(id, 'GET', 'history'),
    phones.ask(id, 'POST', 'input', { type: 'tap', x: 3, y: 3 }),
    phones.ask(id, 'POST', 'input', { type: 'text', text: 'hello' }),
    phones.launch(id),
  ]);

/**
 * Checks the phone with untouched messages: it must become ready again, and the host must have found no bug of its
 * own.
 */
async function aftermath(phones: PhoneWorld): Promise<string[]> {
  const { host } = phones;
  if (host.hasExited) return [`the host has ended: ${host.output.slice(-2000)}`];
  await phones.settle();
  const bug = /^.*("level":[56]0|unhandled).*$/im.exec(host.output);
  return bug === null ? [] : [`the host says: ${bug[0].slice(0, 1000)}`];
}
