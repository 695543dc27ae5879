import type { DeviceOutcome, LaunchSecrets, PhoneSettings, ScreenMask } from '@phalanx/protocol';
import { v7 as uuidv7 } from 'uuid';
import type { DeviceAccess } from '../../fleet/devices/device-access.ts';
import { getOnlineDevices, nameOf, type OnlineDevice } from '../../fleet/devices/online-devices.ts';
import type { ProjectFiles } from '../../code/compile/project-mirror.ts';
import { isUniqueViolation } from '../../storage/db/dialect.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { boundedList } from '../../kernel/errors/bounded-list.ts';
import type { AuditEvent } from '../../http/requests/audit-event.ts';
import type { Principal } from '../../http/requests/principal.ts';
import { TimeSlice } from '../../kernel/limits/time-slice.ts';
import type { GetLaunchable, Launchable } from '../../code/projects/project-files.ts';
import { awaitStart, dispatch, send, type Dispatch, type Dispatcher } from './dispatch.ts';
import type { BegunLaunch } from './keyed-launches.ts';
import { masksPath, maxMasksBytes, readMasks } from '../../code/files/masks.ts';
import { maxSchemaBytes, parametersSchemaPath } from '../../code/files/parameters-schema.ts';
import type { ParameterChecker } from './parameters/parameter-checker.ts';
import type { SecretGrants } from '../../code/secrets/secret-grants.ts';
import type { Bundle, Bundles } from './bundles.ts';

interface ProjectRequest {
  readonly device_ids: readonly string[];
  /** Launch ID and fingerprint of the caller's key, when there is one. */
  readonly key: { readonly launchId: string; readonly fingerprint: string } | undefined;
  readonly automationId: string;
  readonly automationParameters: Record<string, unknown> | undefined;
  readonly jobVariables: Record<string, unknown> | undefined;
  readonly film: boolean;
  readonly phoneSettings: PhoneSettings | undefined;
}

interface Options {
  dispatcher: Dispatcher;
  devices: DeviceAccess;
  getLaunchable: GetLaunchable;
  bundles: Bundles;
  parameters: ParameterChecker;
  /** Reads the secrets of a project, to look for them in given values. */
  secretsOf: (projectId: string) => Promise<LaunchSecrets>;
  grants: Pick<SecretGrants, 'grant'>;
}

/** The run of a task of a job. */
interface TaskRequest extends Pick<
  Dispatch,
  'automationParameters' | 'jobVariables' | 'film' | 'phoneSettings'
> {
  readonly automationId: string;
  readonly deviceId: string;
  readonly claim: NonNullable<Dispatch['claim']>;
}

type PlanInputs = Pick<
  Dispatch,
  'automationParameters' | 'jobVariables' | 'auditEvent' | 'claim' | 'film' | 'phoneSettings'
> &
  Partial<Pick<ProjectRequest, 'key'>> & { readonly device_ids: readonly string[] };

/** Starts saved projects. */
export class ProjectLaunches {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Stores the launch and waits for its phones. Throws the errors that the error table lists for launches. */
  async begin(principal: Principal, request: ProjectRequest, auditEvent: AuditEvent): Promise<BegunLaunch> {
    const project = await this.#options.getLaunchable(request.automationId, principal);
    const { userId } = principal;
    const { device_ids } = request;
    await this.#requireFree(
      await getOnlineDevices(this.#options.devices, userId, device_ids),
      project.projectId,
    );
    const given = request.automationParameters ?? {};
    const automationParameters = await this.checkParameters(project, given, userId);
    const jobVariables = request.jobVariables ?? {};
    const { key, film, phoneSettings } = request;
    const inputs = { automationParameters, jobVariables, auditEvent, key, film, phoneSettings };
    const plan = await this.#planner(principal, project, { device_ids, ...inputs });
    return this.#dispatchOnce(userId, plan);
  }

  /**
   * Starts the run of a task, whose parameters were checked when its job was made. Resolves when the run is stored.
   * `begun` resolves when it has begun or was called off.
   */
  async startTask(principal: Principal, task: TaskRequest): Promise<{ begun: Promise<unknown> }> {
    const project = await this.#options.getLaunchable(task.automationId, principal);
    const { deviceId, automationId: _, ...given } = task;
    const inputs = { ...given, auditEvent: null };
    const plan = await this.#planner(principal, project, { device_ids: [deviceId], ...inputs });
    const { dispatcher } = this.#options;
    return { begun: awaitStart(dispatcher, await send(dispatcher, principal.userId, plan)) };
  }

  /** Creates the function that plans the launch; it may be called several times. */
  async #planner(
    principal: Principal,
    project: Launchable,
    { device_ids, key, ...inputs }: PlanInputs,
  ): Promise<() => Promise<Dispatch>> {
    const masks = await masksOf(project);
    const bundle = await this.#options.bundles.ofProject(project.files);
    return async () => {
      const devices = await getOnlineDevices(this.#options.devices, principal.userId, device_ids);
      const secrets = await this.#options.grants.grant(
        project.projectId,
        devices.map(({ device }) => device),
      );
      if (Object.keys(secrets).length > 0) requireHiding(devices);
      const { projectId: automationId } = project;
      const { launchId = null, fingerprint = '' } = key ?? {};
      const ids = { id: uuidv7(), launchId, name: null, fingerprint, automationId, code: null };
      return { ...ids, launcher: principal, bundle, project, masks, secrets, devices, ...inputs };
    };
  }

  /**
   * Dispatches a launch. Of two launches at the same moment, the second can't be stored: it throws the reason, or tries
   * again when there is none any more.
   */
  async #dispatchOnce(userId: string, plan: () => Promise<Dispatch>): Promise<BegunLaunch> {
    const { dispatcher } = this.#options;
    for (;;) {
      try {
        let id = '';
        const planned = async (): Promise<Dispatch> => {
          const launch = await plan();
          ({ id } = launch);
          return launch;
        };
        return { outcome: await dispatch(dispatcher, userId, planned), id };
      } catch (error) {
        if (!isUniqueViolation(error)) throw error;
        const { devices, automationId, launchId } = await plan();
        const isSecond =
          launchId !== null && (await dispatcher.launches.find(userId, launchId)) !== undefined;
        if (isSecond) throw error;
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

  /** Requires that values hold no secrets: they are stored until runs begin. Throws `secret_in_job`. */
  async requireNoSecrets(projectId: string, values: readonly unknown[]): Promise<void> {
    const { dispatcher, secretsOf } = this.#options;
    const matcher = await dispatcher.matchers.of(projectId, await secretsOf(projectId));
    if (matcher.isEmpty) return;
    // Other requests have turns in between: a table may have 5 MB.
    const slice = new TimeSlice();
    for (const value of values) {
      if (await slice.run(matcher.lookingIn(JSON.stringify(value)))) throw ApiError.of('secret_in_job', {});
      if (slice.isOver) await slice.next();
    }
  }

  /** Bundles a project for hosts that get it without a launch. Throws `compile_failed`. */
  bundle(files: ProjectFiles): Promise<Bundle> {
    return this.#options.bundles.ofProject(files);
  }

  /**
   * Returns the parameters with the defaults of the project's schema. Throws `invalid_parameters` or
   * `invalid_parameter_schema`.
   */
  async checkParameters(
    { files }: Pick<Launchable, 'files'>,
    parameters: Record<string, unknown>,
    userId: string,
  ): Promise<Record<string, unknown>> {
    const schema = await files.readUpTo(parametersSchemaPath, maxSchemaBytes);
    if (schema === undefined) return parameters;
    if (!('text' in schema))
      throw ApiError.of('invalid_parameter_schema', { problem: tooLarge(schema, maxSchemaBytes) });
    return this.#options.parameters.check(schema.text, parameters, userId);
  }
}

async function masksOf({ files }: Launchable): Promise<ScreenMask[]> {
  const masks = await files.readUpTo(masksPath, maxMasksBytes);
  if (masks === undefined) return [];
  if (!('text' in masks)) throw ApiError.of('invalid_masks', { problem: tooLarge(masks, maxMasksBytes) });
  return readMasks(masks.text);
}

const tooLarge = ({ sizeBytes }: { sizeBytes: number }, maxBytes: number): string =>
  `it has ${sizeBytes} bytes, and at most ${maxBytes} are read`;

/** Throws `devices_unavailable`: a host that does not know secrets would show them. */
function requireHiding(devices: readonly OnlineDevice[]): void {
  const open = devices.filter(({ device }) => !device.knowsSecrets);
  if (open.length === 0) return;
  const reason = 'its host is of an older release, which knows no secrets: bring it up to date';
  const names = open.map(({ device }) => `${nameOf(device)} (${reason})`);
  throw ApiError.of('devices_unavailable', { devices: boundedList(names, ', ') });
}

function alreadyRunning({ device }: OnlineDevice, isBusy: boolean): DeviceOutcome {
  const reason = isBusy
    ? `${nameOf(device)}: the automation already runs there.`
    : 'The automation already runs on other devices.';
  return { device_id: device.id, outcome: 'refused', code: 'already_running', reason, run_id: null };
}
