import type { RunDetail } from '@phalanx/protocol';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { useMissingScope } from '../api/me.ts';
import { isReady } from '../devices/device-state.tsx';
import { useDevice } from '../devices/queries.ts';
import { LaunchDialog } from '../launches/launch-dialog.tsx';
import { launchCode } from '../launches/use-launch.ts';
import { Button } from '../parts/button.tsx';
import { notifyFailure } from '../parts/notices.tsx';
import { runCodeQuery } from './queries.ts';

/** The same code on the same phone with the same parameters; those of a project can be changed before. */
export const RunAgain = ({ run }: { run: RunDetail }) =>
  run.launch_id === null ? <ProjectAgain run={run} /> : <CodeAgain run={run} />;

function ProjectAgain({ run }: { run: RunDetail }) {
  const missing = useMissingScope('launch');
  const device = useDevice(run.device_id);
  const [isOpen, setOpen] = useState(false);
  if (device === undefined) return null;
  return (
    <>
      <Button reason={missing} onClick={() => setOpen(true)}>
        Run again…
      </Button>
      {isOpen && (
        <LaunchDialog
          devices={[device]}
          projectId={run.automation_id}
          {...(run.parameters === null ? {} : { parameters: run.parameters.automation_parameters })}
          phoneSettings={run.parameters?.phone_settings}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

function CodeAgain({ run }: { run: RunDetail }) {
  const navigate = useNavigate();
  const missing = useMissingScope('launch');
  const device = useDevice(run.device_id);
  const { data: code } = useQuery(runCodeQuery(run.run_id));
  const [isBusy, setBusy] = useState(false);
  if (device === undefined || code === undefined) return null;
  const notKept = code === null || run.parameters === null;
  const again = async (): Promise<void> => {
    setBusy(true);
    try {
      const [row] = await launchCode(code ?? '', run.device_id, {
        ...(run.name !== null && { name: run.name }),
        automationParameters: run.parameters?.automation_parameters ?? {},
        jobVariables: run.parameters?.job_variables ?? {},
        ...(run.parameters?.phone_settings !== undefined && {
          phone_settings: run.parameters.phone_settings,
        }),
      });
      if (typeof row?.run_id === 'string')
        await navigate({ to: '/runs/$runId', params: { runId: row.run_id } });
    } catch (error) {
      notifyFailure('The code was not started', error);
    }
    setBusy(false);
  };
  const reason =
    missing ??
    (notKept ? 'Its code or its parameters have more than 1 MiB, and were not kept.' : undefined) ??
    (isReady(device) ? undefined : device.reason);
  return (
    <Button reason={reason} isBusy={isBusy} onClick={() => void again()}>
      Run again
    </Button>
  );
}
