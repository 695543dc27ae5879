import { randomUuid } from '@phalanx/client/random-uuid';
import { ServiceError } from '@phalanx/client/service-errors';
import type { Device, DeviceOutcome, PhoneSettings, Run } from '@phalanx/protocol';
import { useCallback, useRef, useState } from 'react';

import { call } from '../../api/call.ts';
import { useLiveEvent } from '../../api/live-events.ts';
import { messageOf } from '../../parts/states.tsx';
import { type OutcomeRow, waitingRows, withOutcomes } from './outcome-list.tsx';
import { parseObject } from './parameter-fields.ts';

export interface Launch {
  /** Rows of the latest launch; undefined before the first one. */
  readonly rows: readonly OutcomeRow[] | undefined;
  readonly error: unknown;
  readonly isBusy: boolean;
  readonly start: (
    projectId: string,
    devices: readonly Device[],
    parameters: Record<string, unknown>,
    more?: { film?: boolean; phone_settings?: PhoneSettings },
  ) => Promise<void>;
  /** Runs direct code. */
  readonly startCode: (
    code: string,
    devices: readonly Device[],
    parameters: Record<string, unknown>,
  ) => Promise<void>;
  readonly reset: () => void;
}

/** Launches a project. Events report the result of each phone before the reply for all phones arrives. */
export function useLaunch(): Launch {
  const [rows, setRows] = useState<readonly OutcomeRow[]>();
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const launched = useRef<string>(undefined);

  const onRun = useCallback(({ run }: { run: Run }) => {
    if (run.automation_id !== launched.current || run.started_at === null) return;
    const { device_id, run_id } = run;
    const outcome = { device_id, run_id, outcome: 'started' as const, code: null, reason: null };
    setRows((known) => known && withOutcomes(known, [outcome]));
  }, []);
  useLiveEvent('run', onRun);

  /** Starts a launch and merges the reply with the results from events. */
  const begin = async (
    devices: readonly Device[],
    automationId: string | undefined,
    launch: () => Promise<readonly DeviceOutcome[]>,
  ): Promise<void> => {
    setBusy(true);
    setError(null);
    setRows(waitingRows(devices));
    launched.current = automationId;
    try {
      const outcomes = await launch();
      setRows((known) => known && withOutcomes(known, outcomes));
    } catch (failure) {
      setError(failure);
      const outcomes = failure instanceof ServiceError ? failure.devices : [];
      // Shows a failure of the entire launch once, not for each phone.
      const isOfAll = outcomes.every(({ reason }) => reason === messageOf(failure));
      setRows(
        isOfAll ? undefined : (known) => known && withOutcomes(known, outcomes, 'Nothing was launched.'),
      );
    } finally {
      launched.current = undefined;
      setBusy(false);
    }
  };
  const start: Launch['start'] = (projectId, devices, automationParameters, more = {}) => {
    keepParameters(projectId, automationParameters);
    return begin(devices, projectId, async () => {
      const device_ids = devices.map((device) => device.device_id);
      const what = { automationId: projectId, command: 'start' as const, device_ids };
      const body = { ...what, automationParameters, ...more };
      return (await call('POST /api/v2/devices/launchAutomation', { body })).devices;
    });
  };
  const startCode: Launch['startCode'] = (code, devices, automationParameters) =>
    begin(devices, undefined, async () => {
      const starts = devices.map(({ device_id }) => launchCode(code, device_id, { automationParameters }));
      return (await Promise.all(starts)).flat();
    });
  const reset = (): void => {
    setRows(undefined);
    setError(null);
  };
  return { rows, error, isBusy, start, startCode, reset };
}

interface CodeInputs {
  /** Name of the run in lists. */
  name?: string;
  automationParameters: Record<string, unknown>;
  jobVariables?: Record<string, unknown>;
  phone_settings?: PhoneSettings;
}

/** Runs direct code on one phone. */
export async function launchCode(
  code: string,
  deviceId: string,
  inputs: CodeInputs,
): Promise<readonly DeviceOutcome[]> {
  const launch = { device_id: deviceId, launch_id: randomUuid(), command: 'start' as const };
  const reply = await call('POST /api/v2/devices/launchDirectAutomation', {
    body: { ...launch, code, ...inputs },
  });
  return reply.devices;
}

const keyOf = (automationId: string): string => `phalanx.parameters.${automationId}`;

/** Returns the parameters of this browser's last launch. */
export const lastParameters = (automationId: string): Record<string, unknown> =>
  parseObject(localStorage.getItem(keyOf(automationId)) ?? '') ?? {};

const keepParameters = (automationId: string, values: Record<string, unknown>): void =>
  localStorage.setItem(keyOf(automationId), JSON.stringify(values));
