import { TouchRecorder } from '@phalanx/automation/touch-recorder';
import type { Device, PhoneInput } from '@phalanx/protocol';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import type { useLease } from '../live/use-lease.ts';
import { touchPhone } from '../live/use-touch.ts';
import { screenQuery } from '../screens/screen-query.ts';
import type { CodeSink } from './editor-handle.ts';
import { untilSettled } from './until-settled.ts';

/** Touches of a phone that somebody takes with the first of them; while it is on, each is written as code. */
export function useRecording(device: Device, lease: ReturnType<typeof useLease>, sink: CodeSink) {
  const queries = useQueryClient();
  const [recorder, setRecorder] = useState<TouchRecorder>();
  const [isWriting, setWriting] = useState(false);
  const readScreen = async (): Promise<AndroidNode> =>
    (await queries.fetchQuery({ ...screenQuery(device.device_id), staleTime: 0 })).tree.root;
  const write = (lines: readonly string[]): void => {
    if (lines.length > 0) sink.insert(lines.join('\n'));
  };
  const record = async (by: TouchRecorder, input: PhoneInput): Promise<void> => {
    setWriting(true);
    try {
      const before = await readScreen();
      await touchPhone(device.device_id, input);
      write(by.write({ input, before, after: await untilSettled(readScreen) }));
    } finally {
      setWriting(false);
    }
  };
  const touch = async (input: PhoneInput): Promise<void> => {
    if (!lease.isMine && !(await lease.take())) throw new Error(lease.reason ?? 'You have no control of it.');
    if (recorder === undefined) await touchPhone(device.device_id, input);
    else await record(recorder, input);
  };
  return {
    isOn: recorder !== undefined,
    isWriting,
    touch,
    start: () => setRecorder(new TouchRecorder()),
    stop: () => {
      write(recorder?.end() ?? []);
      setRecorder(undefined);
    },
  };
}
