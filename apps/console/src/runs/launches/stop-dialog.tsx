import { ServiceError } from '@phalanx/client/service-errors';
import type { Device } from '@phalanx/protocol';
import { useState } from 'react';

import { call } from '../../api/call.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { SubmitButton } from '../../parts/form.tsx';
import { messageOf } from '../../parts/states.tsx';
import { OutcomeList, waitingRows, withOutcomes, type OutcomeRow } from './outcome-list.tsx';

const atOnce = 6;

async function stopOn(deviceId: string): Promise<{ outcomes: OutcomeRow['outcome']; reason: string | null }> {
  try {
    const { devices } = await call('POST /api/v2/devices/stopAllAutomations', {
      body: { device_id: deviceId },
    });
    return { outcomes: devices[0]?.outcome ?? 'stopped', reason: devices[0]?.reason ?? null };
  } catch (error) {
    const row = error instanceof ServiceError ? error.devices[0] : undefined;
    return { outcomes: row?.outcome ?? 'refused', reason: row?.reason ?? messageOf(error) };
  }
}

/** Dialog that stops everything that runs on the phones, independently for each phone. */
export function StopDialog({ devices, onClose }: { devices: readonly Device[]; onClose: () => void }) {
  const [rows, setRows] = useState<readonly OutcomeRow[]>();
  const running = devices.reduce((sum, device) => sum + device.running.length, 0);
  const stop = async (): Promise<void> => {
    setRows(waitingRows(devices));
    const waiting = [...devices];
    const worker = async (): Promise<void> => {
      for (let device = waiting.shift(); device !== undefined; device = waiting.shift()) {
        const { device_id } = device;
        const { outcomes: outcome, reason } = await stopOn(device_id);
        if (outcome === 'waiting' || outcome === 'not tried') continue;
        setRows(
          (known) => known && withOutcomes(known, [{ device_id, outcome, reason, code: null, run_id: null }]),
        );
      }
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
  };
  const phones = `${devices.length} ${devices.length === 1 ? 'phone' : 'phones'}`;
  return (
    <Dialog
      title={`Stop everything on ${phones}`}
      isOpen
      onClose={onClose}
      onAct={stop}
      foot={
        <>
          <Button onClick={onClose}>{rows === undefined ? 'Cancel' : 'Close'}</Button>
          {rows === undefined && (
            <SubmitButton look="danger">
              {running === 0 ? 'Stop' : `Stop ${running} ${running === 1 ? 'run' : 'runs'}`}
            </SubmitButton>
          )}
        </>
      }
    >
      {rows === undefined ? (
        <p>
          {running === 0
            ? `Nothing is running on ${devices.length === 1 ? 'this phone' : 'these phones'}.`
            : 'Stopped runs do not continue. The apps on the phones stay as they are.'}
        </p>
      ) : (
        <OutcomeList rows={rows} />
      )}
    </Dialog>
  );
}
