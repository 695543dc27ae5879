import type { Device, Run } from '@phalanx/protocol';
import { useCallback, useRef, useState } from 'react';

import { ApiFailure } from '../api/api-failure.ts';
import { call } from '../api/call.ts';
import { useLiveEvent } from '../api/live-events.ts';
import { keepParameters } from './last-parameters.ts';
import { waitingRows, withOutcomes, type OutcomeRow } from './outcomes.ts';

interface Launch {
  /** Undefined before the first try. */
  readonly rows: readonly OutcomeRow[] | undefined;
  readonly error: unknown;
  readonly isBusy: boolean;
  readonly start: (
    projectId: string,
    devices: readonly Device[],
    parameters: Record<string, unknown>,
  ) => Promise<void>;
  readonly reset: () => void;
}

/** Launches a project; the service's events tell of each phone before the answer for all of them comes. */
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

  const start: Launch['start'] = async (projectId, devices, parameters) => {
    setBusy(true);
    setError(null);
    setRows(waitingRows(devices));
    launched.current = projectId;
    keepParameters(projectId, parameters);
    try {
      const body = {
        automationId: projectId,
        command: 'start' as const,
        device_ids: devices.map((device) => device.device_id),
        automationParameters: parameters,
      };
      const reply = await call('POST /api/v2/devices/launchAutomation', { body });
      setRows((known) => known && withOutcomes(known, reply.devices));
    } catch (failure) {
      setError(failure);
      const outcomes = failure instanceof ApiFailure ? failure.devices : [];
      setRows(
        outcomes.length === 0
          ? undefined
          : (known) => known && withOutcomes(known, outcomes, 'Nothing was launched.'),
      );
    } finally {
      launched.current = undefined;
      setBusy(false);
    }
  };
  const reset = (): void => {
    setRows(undefined);
    setError(null);
  };
  return { rows, error, isBusy, start, reset };
}
