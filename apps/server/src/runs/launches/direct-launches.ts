import type { LaunchDirectBody } from '@phalanx/protocol';
import type { Static } from 'typebox';
import { v7 as uuidv7 } from 'uuid';

import type { DeviceAccess } from '../../fleet/devices/device-access.ts';
import { getOnlineDevices } from '../../fleet/devices/online-devices.ts';
import type { AuditEvent } from '../../http/requests/audit-event.ts';
import type { Bundles } from './bundles.ts';
import { dispatch, type Dispatch, type Dispatcher } from './dispatch.ts';
import { type BegunLaunch, fingerprintOf, type KeyedLaunches, type LaunchReply } from './keyed-launches.ts';

export type DirectRequest = Static<typeof LaunchDirectBody>;

/** The launcher, with the audit event that notes the launch. */
type Launcher = Dispatch['launcher'] & { auditEvent: AuditEvent };

interface Options {
  dispatcher: Dispatcher;
  devices: DeviceAccess;
  bundles: Bundles;
  keyedLaunches: KeyedLaunches;
}

/** Starts direct code; the caller's launch ID makes sure that it is started once. */
export class DirectLaunches {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Throws the errors that the error table lists for launches. */
  start(launcher: Launcher, request: DirectRequest): Promise<LaunchReply> {
    const { device_id, code, automationParameters = {}, jobVariables = {}, film = false } = request;
    const { phone_settings: phoneSettings = {} } = request;
    const inputs = [automationParameters, jobVariables, film, phoneSettings];
    const fingerprint = fingerprintOf([device_id, code, ...inputs]);
    return this.#options.keyedLaunches.start({
      ...{ userId: launcher.userId, launchId: request.launch_id, fingerprint },
      begin: () => this.#begin(launcher, request, fingerprint),
    });
  }

  async #begin(launcher: Launcher, request: DirectRequest, fingerprint: string): Promise<BegunLaunch> {
    const { dispatcher, devices, bundles } = this.#options;
    const { userId } = launcher;
    await getOnlineDevices(devices, userId, [request.device_id]);
    const bundle = await bundles.ofDirectCode(userId, request.code);
    const id = uuidv7();
    const plan = async (): Promise<Dispatch> => ({
      id,
      launcher,
      auditEvent: launcher.auditEvent,
      launchId: request.launch_id,
      fingerprint,
      name: request.name?.toWellFormed().replaceAll('\u0000', '') ?? null,
      automationId: request.launch_id,
      bundle,
      project: null,
      code: request.code,
      automationParameters: request.automationParameters ?? {},
      jobVariables: request.jobVariables ?? {},
      masks: [],
      film: request.film === true,
      phoneSettings: request.phone_settings,
      secrets: {},
      devices: await getOnlineDevices(devices, userId, [request.device_id]),
    });
    return { id, outcome: await dispatch(dispatcher, userId, plan) };
  }
}
