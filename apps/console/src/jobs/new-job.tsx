import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { call } from '../api/call.ts';
import { ActionDialog } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { InlineFailure } from '../parts/states.tsx';
import { noWork, WorkFields, workBody, workProblem } from './work-fields.tsx';

/** A project on phones as soon as they are free, one run for each row of a file. */
export function NewJob({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [work, setWork] = useState(noWork);
  const [file, setFile] = useState<File>();
  const [error, setError] = useState<unknown>(null);
  const create = async (): Promise<void> => {
    try {
      const inputs = file === undefined ? {} : { inputs_text: await file.text() };
      const { job } = await call('POST /api/v2/jobs', { body: { ...workBody(work), ...inputs } });
      await queries.invalidateQueries({ queryKey: ['jobs'] });
      await navigate({ to: '/jobs/$jobId', params: { jobId: job.id } });
    } catch (failure) {
      setError(failure);
    }
  };
  const countHint = file === undefined ? 'So many runs, each on another phone' : 'The most phones at once';
  return (
    <ActionDialog title="New job" action="Create" reason={workProblem(work)} onAct={create} onClose={onClose}>
      <WorkFields value={work} countHint={countHint} onChange={setWork} />
      <Field label="Inputs" hint="CSV with a line of names, or JSON lines: a run for each row">
        {(attributes) => (
          <input
            {...attributes}
            type="file"
            accept=".csv,.jsonl,.ndjson,text/csv"
            onChange={({ target }) => setFile(target.files?.[0])}
          />
        )}
      </Field>
      {error !== null && <InlineFailure error={error} />}
    </ActionDialog>
  );
}
