import type { DeviceOutcome, LaunchBody, ScreenMask } from '@phalanx/protocol';
import type { Static } from 'typebox';
import { v7 as uuidv7 } from 'uuid';

import type { DeviceAccess } from '../devices/device-access.ts';
import { getOnlineDevices, nameOf, type OnlineDevice } from '../devices/online-devices.ts';
import { isUniqueViolation } from '../db/unique-violation.ts';
import { ApiError } from '../http/api-error.ts';
import { boundedList } from '../http/bounded-list.ts';
import type { Deed } from '../http/deed.ts';
import type { Principal } from '../http/principal.ts';
import type { GetLaunchable, Launchable } from '../projects/project-files.ts';
import { answerOf, deliver, type LaunchReply } from './launch-answer.ts';
import { dispatch, type Dispatch, type Dispatcher, type LaunchOutcome } from './dispatch.ts';
import { masksPath, readMasks } from './masks.ts';
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

  constructor(options: Options) {
    this.#options = options;
  }

  /** Throws what the error table has for launches. */
  async start(principal: Principal, request: ProjectRequest, deed: Deed): Promise<LaunchReply> {
    const project = await this.#options.getLaunchable(request.automationId, principal);
    const { projectId } = project;
    const getDevices = () => getOnlineDevices(this.#options.devices, principal.userId, request.device_ids);
    await this.#requireFree(await getDevices(), projectId);
    const { userId } = principal;
    const given = request.automationParameters ?? {};
    const automationParameters = await this.#checkParameters(project, given, userId);
    const masks = await masksOf(project);
    const bundle = await this.#options.bundles.ofProject(project.files);
    const plan = async (): Promise<Dispatch> => {
      const devices = await getDevices();
      if (masks.length > 0) requireMasking(devices);
      return {
        id: uuidv7(),
        launcher: principal,
        deed,
        launchId: null,
        fingerprint: '',
        automationId: projectId,
        bundle,
        project,
        automationParameters,
        jobVariables: request.jobVariables ?? {},
        masks,
        devices,
      };
    };
    const { dispatcher } = this.#options;
    const outcome = await this.#dispatchOnce(userId, plan);
    return deliver(await answerOf(outcome, dispatcher), dispatcher.ackTimeoutMs);
  }

  /** Of two launches at the same moment, the second finds that its runs can't be stored, and why. */
  async #dispatchOnce(userId: string, plan: () => Promise<Dispatch>): Promise<LaunchOutcome> {
    for (;;) {
      try {
        return await dispatch(this.#options.dispatcher, userId, plan);
      } catch (error) {
        if (!isUniqueViolation(error)) throw error;
        const { devices, automationId } = await plan();
        await this.#requireFree(devices, automationId);
      }
    }
  }

  /** Throws `already_running`. */
  async #requireFree(devices: readonly OnlineDevice[], projectId: string): Promise<void> {
    const deviceIds = devices.map(({ device }) => device.id);
    const busyIds = new Set(await this.#options.dispatcher.launches.listBusy(projectId, deviceIds));
    if (busyIds.size === 0) return;
    const isBusy = ({ device }: OnlineDevice): boolean => busyIds.has(device.id);
    const busy = devices.filter(isBusy).map(({ device }) => nameOf(device));
    const rows = devices.map((on) => alreadyRunning(on, isBusy(on)));
    throw ApiError.of('already_running', { devices: boundedList(busy, ', ') }, { devices: rows });
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

async function masksOf({ files }: Launchable): Promise<ScreenMask[]> {
  const text = await files.read(masksPath);
  return text === undefined ? [] : readMasks(text);
}

/** A host that does not know masks would show all. */
function requireMasking(devices: readonly OnlineDevice[]): void {
  const open = devices.filter(({ device }) => !device.knowsMasks);
  if (open.length === 0) return;
  const reason = 'its host is of an older release, which knows no masks: bring it up to date';
  const names = open.map(({ device }) => `${nameOf(device)} (${reason})`);
  throw ApiError.of('devices_unavailable', { devices: boundedList(names, ', ') });
}

function alreadyRunning({ device }: OnlineDevice, isBusy: boolean): DeviceOutcome {
  const reason = isBusy
    ? `${nameOf(device)}: the automation already runs there.`
    : 'The automation already runs on other devices.';
  return { device_id: device.id, outcome: 'refused', code: 'already_running', reason, run_id: null };
}
