import type { Command } from '@commander-js/extra-typings';
import type { ApiClient } from '@phalanx/client/api-client';
import { ServiceError } from '@phalanx/client/service-errors';
import { launchRoutes, type Device } from '@phalanx/protocol';
import type { Command as PlainCommand } from 'commander';

import { serverCommand } from '../../connection/server-command.ts';
import { CommandError, exitCodes, usageError } from '../../exit-codes.ts';
import { listRuns } from '../../follow/find-runs.ts';
import { deviceIdOf, isOnline, listDevices, serialOf, getAutomationId } from '../../launch/find-by-name.ts';
import { printMessage, printable } from '../../output/terminal.ts';
import { repeated } from '../../option-values.ts';

/** `phalanx stop`: stops automations on devices. */
export function addStopCommand(program: PlainCommand): void {
  serverCommand(program, 'stop', {
    about: 'stop one automation, or all of them, on devices',
    json: false,
    build: (command: Command) =>
      command
        .argument(
          '[automation]',
          'project (ID or name), or the launch ID of direct code; default: all automations',
        )
        .option('--device <device>', 'serial number or device ID (repeatable)', repeated, [])
        .option('--all', 'stop on all devices where it runs'),
    help: `The command returns when the runs have ended. It also succeeds if nothing runs.

Examples:
  phalanx stop --device SIM0001
  phalanx stop --all checkout`,
    check({ device, all }) {
      if (device.length > 0 === (all === true))
        throw usageError('Choose the devices: pass --device D (repeatable), or --all.');
    },
    async run({ api }, { device: texts, all }, automation) {
      const automationId = automation === undefined ? undefined : await getAutomationId(api, automation);
      const devices = await listDevices(api);
      const deviceIds = all
        ? devices
            .filter((device) => isOnline(device) && runsOn(device, automationId))
            .map((one) => one.device_id)
        : texts.map((text) => deviceIdOf(devices, text));
      if (deviceIds.length === 0) return console.log('Nothing to stop: it runs on no device.');
      await stop(api, { automationId, deviceIds, devices });
    },
  });
}

const runsOn = ({ running }: Device, automationId: string | undefined): boolean =>
  running.some((run) => automationId === undefined || run.automation_id === automationId);

interface Stop {
  automationId: string | undefined;
  deviceIds: readonly string[];
  devices: readonly Device[];
}

async function stop(api: ApiClient, { automationId, deviceIds, devices }: Stop): Promise<void> {
  if (automationId !== undefined && !(await isDirect(api, automationId))) {
    const body = { device_ids: [...deviceIds], automationId, command: 'stop' as const };
    return printMessage(await api.call(launchRoutes.launch, { body }));
  }
  let refused = 0;
  for (const deviceId of deviceIds) {
    const answer = await stopOne(api, deviceId, automationId).catch((error: unknown) => {
      if (!(error instanceof ServiceError) || error.status === 401) throw error;
      refused += 1;
      return error;
    });
    const line = printable(`${serialOf(devices, deviceId)}: ${answer.message}`);
    if (answer instanceof ServiceError) console.error(line);
    else console.log(line);
  }
  if (refused > 0)
    throw new CommandError(
      exitCodes.refused,
      `${refused} of ${deviceIds.length} devices could not be stopped.`,
    );
}

function stopOne(
  api: ApiClient,
  deviceId: string,
  launchId: string | undefined,
): Promise<{ message: string }> {
  if (launchId === undefined) return api.call(launchRoutes.stopAll, { body: { device_id: deviceId } });
  const body = { device_id: deviceId, launch_id: launchId, command: 'stop' as const, code: '' };
  return api.call(launchRoutes.launchDirect, { body });
}

/**
 * Whether the automation is direct code. An ID that has never run counts as a project, so that the server says
 * whether it exists.
 */
async function isDirect(api: ApiClient, automationId: string): Promise<boolean> {
  for await (const run of listRuns(api, { automation_id: automationId })) return run.launch_id !== null;
  return false;
}
