import type { Device, Labels } from '@phalanx/protocol';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { call } from '../api/call.ts';
import { Field, TextArea, TextField } from '../parts/field.tsx';
import { ActionDialog } from '../parts/dialog.tsx';
import { InlineFailure } from '../parts/states.tsx';
import { devicesQuery } from './queries.ts';

/** Name and labels of one phone. */
export function NamePhone({ device, onClose }: { device: Device; onClose: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState(device.name);
  const [text, setText] = useState(() => linesOf(device.labels));
  const [error, setError] = useState<unknown>(null);
  const { labels, problem } = readLines(text);
  const save = async (): Promise<void> => {
    const params = { id: device.device_id };
    try {
      if (name !== device.name) await call('PATCH /api/v2/devices/:id', { params, body: { name } });
      if (text !== linesOf(device.labels))
        await call('PUT /api/v2/devices/:id/labels', { params, body: { labels } });
      await client.invalidateQueries({ queryKey: devicesQuery.queryKey });
      onClose();
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <ActionDialog
      title={`Name and labels of ${device.serial}`}
      action="Save"
      reason={problem}
      onAct={save}
      onClose={onClose}
    >
      <TextField label="Name" hint="Empty: maker and model" value={name} onChange={setName} />
      <Field label="Labels" hint="A line each, such as country=de" problem={problem}>
        {(attributes) => (
          <TextArea {...attributes} rows={5} value={text} onChange={({ target }) => setText(target.value)} />
        )}
      </Field>
      {error !== null && <InlineFailure error={error} />}
    </ActionDialog>
  );
}

const linesOf = (labels: Labels): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join('\n');

function readLines(text: string): { labels: Labels; problem: string | undefined } {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  const bad = lines.find((line) => !line.includes('='));
  const labels = Object.fromEntries(
    lines.map((line) => [line.split('=', 1)[0]?.trim() ?? '', line.slice(line.indexOf('=') + 1).trim()]),
  );
  return { labels, problem: bad === undefined ? undefined : `"${bad}" is not key=value.` };
}
