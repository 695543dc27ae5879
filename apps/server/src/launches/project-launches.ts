import type { DeviceOutcome, LaunchBody } from '@phalanx/protocol';
import type { Static } from 'typebox';
import { v7 as uuidv7 } from 'uuid';

import type { DeviceAccess } from '../devices/device-access.ts';
import { getOnlineDevices, nameOf, type OnlineDevice } from '../devices/online-devices.ts';
import { ApiError } from '../http/api-error.ts';
import { boundedList } from '../http/bounded-list.ts';
import type { Deed } from '../http/deed.ts';
import type { Principal } from '../http/principal.ts';
import type { GetLaunchable, Launchable } from '../projects/project-files.ts';
import { answerOf, deliver, type LaunchReply } from './launch-answer.ts';
import { dispatch, type Dispatcher } from './dispatch.ts';
import { parametersSchemaPath, type ParameterChecker } from './parameters/parameter-checker.ts';
import type { Bundles } from './bundles.ts';

export type ProjectRequest = Static<typeof LaunchBody>;

interface Options {
  dispatcher: Dispatcher;
  devices: DeviceAccess;
  getLaunchable: GetLaunchable;
  bundles: Bundles;
  parameters: ParameterChecker;
}

/** Starts saved projects. */
export class ProjectLaunches {
  readonly #options: Options;
  /** Devices and projects between the check and the sending, so that two launches at once can't both pass. */
  readonly #claims = new Set<string>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Throws what the error table has for launches. */
  async start(principal: Principal, request: ProjectRequest, deed: Deed): Promise<LaunchReply> {
    const project = await this.#options.getLaunchable(request.automationId, principal);
    this.#getFreeDevices(principal, project, request.device_ids);
    const { userId } = principal;
    const given = request.automationParameters ?? {};
    const automationParameters = await this.#checkParameters(project, given, userId);
    const bundle = await this.#options.bundles.ofProject(project.files);
    // Compiling takes its time: a device may have gone meanwhile.
    const devices = this.#getFreeDevices(principal, project, request.device_ids);
    const claims = devices.map(({ device }) => claimOf(device.id, project.projectId));
    for (const claim of claims) this.#claims.add(claim);
    try {
      const outcome = await dispatch(this.#options.dispatcher, {
        id: uuidv7(),
        launcher: principal,
        deed,
        launchId: null,
        fingerprint: '',
        automationId: project.projectId,
        bundle,
        project,
        automationParameters,
        jobVariables: request.jobVariables ?? {},
        devices,
      });
      const { dispatcher } = this.#options;
      return deliver(answerOf(outcome, dispatcher), dispatcher.ackTimeoutMs);
    } finally {
      for (const claim of claims) this.#claims.delete(claim);
    }
  }

  #getFreeDevices(principal: Principal, project: Launchable, deviceIds: readonly string[]): OnlineDevice[] {
    const devices = getOnlineDevices(this.#options.devices, principal.userId, deviceIds);
    const isBusy = ({ device }: OnlineDevice): boolean => this.#isRunning(device.id, project.projectId);
    const busy = devices.filter(isBusy).map(({ device }) => nameOf(device));
    if (busy.length === 0) return devices;
    const rows = devices.map((on) => alreadyRunning(on, isBusy(on)));
    throw ApiError.of('already_running', { devices: boundedList(busy, ', ') }, { devices: rows });
  }

  #isRunning(deviceId: string, projectId: string): boolean {
    if (this.#claims.has(claimOf(deviceId, projectId))) return true;
    return this.#options.dispatcher.activeRuns
      .onDevice(deviceId)
      .some((run) => run.automationId === projectId);
  }

  async #checkParameters(
    { files }: Launchable,
    parameters: Record<string, unknown>,
    userId: string,
  ): Promise<Record<string, unknown>> {
    const schema = await files.read(parametersSchemaPath);
    return schema === undefined ? parameters : this.#options.parameters.check(schema, parameters, userId);
  }
}

function alreadyRunning({ device }: OnlineDevice, isBusy: boolean): DeviceOutcome {
  const reason = isBusy
    ? `${nameOf(device)}: the automation already runs there.`
    : 'The automation already runs on other devices.';
  return { device_id: device.id, outcome: 'refused', code: 'already_running', reason, run_id: null };
}

const claimOf = (deviceId: string, projectId: string): string => `${deviceId} ${projectId}`;
