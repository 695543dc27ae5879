import {
  deviceControlRoutes,
  type LaunchSecrets,
  type HostActStep,
  type ActStep,
  type ActTarget,
  type HostActTarget,
  type NumberedScreen,
} from '@phalanx/protocol';
import type { Context } from '../../http/context.ts';
import type { DeviceAccess } from '../../fleet/devices/device-access.ts';
import { getTouchable } from '../../fleet/devices/touchable-device.ts';
import type { FleetDevice } from '../../fleet/devices/fleet-device.ts';
import type { DeviceScreens } from '../../fleet/devices/feature.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { Hosts } from '../../fleet/hosts/feature.ts';
import { requireScope } from '../../http/requests/policy.ts';
import { appLimitOf, type Principal } from '../../http/requests/principal.ts';
import { addRoute } from '../../http/requests/route.ts';
import type { Projects } from '../../code/projects/feature.ts';
import { editors } from '../../code/projects/project-access.ts';
import type { Runs } from '../../runs/runs/feature.ts';
import type { SecretGrants } from '../../code/secrets/secret-grants.ts';
import { identityOf } from '../../fleet/devices/screens/read-screen.ts';
import { doSteps } from './do-steps.ts';

interface ActDependencies {
  devices: DeviceAccess;
  hosts: Hosts;
  runs: Pick<Runs, 'activeRunRows'>;
  screens: DeviceScreens;
  projects: Pick<Projects, 'access'>;
  grants: Pick<SecretGrants, 'grant'>;
}

/** `POST /devices/:id/act` */
export function serveActs(
  { app, faults, limits }: Context,
  {
    devices,
    hosts: { connected: hosts },
    runs,
    screens: { screens, reader },
    projects,
    grants,
  }: ActDependencies,
): void {
  const requireIdle = async (deviceId: string): Promise<void> => {
    const running = (await runs.activeRunRows.mapByDevice([deviceId])).get(deviceId) ?? [];
    if (running.length > 0) throw ApiError.of('device_in_use', { device_id: deviceId });
  };
  /** Grants secrets only to editors, because a user who has a secret typed can have it displayed. */
  const secretsFor = async (
    principal: Principal,
    device: FleetDevice,
    projectId: string,
  ): Promise<LaunchSecrets> => {
    requireScope(principal, 'edit');
    const { id } = await projects.access.getProject(principal, projectId, editors);
    return grants.grant(id, [device]);
  };

  addRoute(app, deviceControlRoutes.act, async ({ principal, params, body, auditEvent }) => {
    const { userId } = principal;
    const { device } = await getTouchable(devices, params.id, principal);
    const owner = { userId, deviceId: device.id };
    auditEvent.on({ type: 'device', id: device.id, name: device.serial }, [device.ownerId]);
    auditEvent.isFrequent = true;
    const toucher = { userId, leaseId: body.lease_id };
    await devices.leases.use(device, toucher);
    await requireIdle(device.id);
    const before = body.screen_id === undefined ? undefined : await screens.get(body.screen_id, owner);
    const { project_id: projectId } = body;
    const secrets = (): Promise<LaunchSecrets> => {
      if (projectId !== undefined) return secretsFor(principal, device, projectId);
      throw ApiError.of('invalid_request', {
        problem: 'Field project_id is missing: it names the project of the secret',
      });
    };
    const steps = await resolveSteps(body.steps, { before, secrets, projectId: projectId ?? '' });
    const viewOptions = { screens, owner, before };
    const touch = { deviceId: device.id, ...toucher };
    const order = { steps, timeoutMs: body.timeout_ms ?? defaultTimeoutMs, touch, viewOptions };
    const asked = { hosts, device, appLimit: appLimitOf(principal) };
    const outcome = await doSteps(asked, order, { turns: limits.turns.screens, reader }).catch(
      async (error: unknown) => {
        await devices.leases.requireFreeNow(device, toucher);
        throw error;
      },
    );
    await devices.leases.addCode(device, toucher, outcome.code).catch((error: unknown) => {
      // The steps are done, so the act has succeeded.
      faults.report(error, 'the code of an act was not stored');
    });
    return { success: true, ...outcome };
  });
}

const defaultTimeoutMs = 30_000;

const defaultWaitMs = 10_000;

interface ActContext {
  /** Screen that the line numbers refer to. */
  readonly before: NumberedScreen | undefined;
  /** Called once, when a step types a secret. */
  readonly secrets: () => Promise<LaunchSecrets>;
  readonly projectId: string;
}

/** Resolves the steps into those of the host protocol. Throws for invalid steps before any step runs. */
async function resolveSteps(
  steps: readonly ActStep[],
  { before, secrets, projectId }: ActContext,
): Promise<HostActStep[]> {
  const values = steps.some((step) => 'secret' in step) ? await secrets() : {};
  return steps.map((step) => {
    const { on, within } = targetsOf(step, before);
    const aimed = {
      ...step,
      ...(on === undefined ? {} : { on }),
      ...(within === undefined ? {} : { within }),
    };
    const more =
      step.type === 'type'
        ? typedBy(step, values, projectId)
        : step.type === 'wait_for'
          ? { timeout_ms: step.timeout_ms ?? defaultWaitMs }
          : {};
    // Each given target has been replaced by a resolved one.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return { ...aimed, ...more } as HostActStep;
  });
}

function targetsOf(
  step: ActStep,
  before: NumberedScreen | undefined,
): { on: HostActTarget | undefined; within: HostActTarget | undefined } {
  const resolve = (target: ActTarget | undefined): HostActTarget | undefined =>
    typeof target === 'number' ? lineOf(target, before) : target;
  return {
    on: 'on' in step ? resolve(step.on) : undefined,
    within: 'within' in step ? resolve(step.within) : undefined,
  };
}

function lineOf(number: number, before: NumberedScreen | undefined): HostActTarget {
  if (before === undefined)
    throw invalid(`Field screen_id is missing: it names the screen that has line ${number}`);
  return { identity: identityOf(before, number) };
}

function typedBy(
  { text, secret }: Extract<ActStep, { type: 'type' }>,
  values: LaunchSecrets,
  projectId: string,
): { text: string } {
  if ((text === undefined) === (secret === undefined))
    throw invalid('A step of type "type" needs either text or secret');
  const value = secret === undefined ? text : values[secret];
  if (value === undefined)
    throw ApiError.of('secret_not_found', { project_id: projectId, name: secret ?? '' });
  return { text: value };
}

const invalid = (problem: string): ApiError => ApiError.of('invalid_request', { problem });
