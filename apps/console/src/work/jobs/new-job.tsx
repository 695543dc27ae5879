import { ServiceError } from '@phalanx/client/service-errors';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { call } from '../../api/call.ts';
import { ActionDialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { FileInput } from '../../parts/file-input.tsx';
import { InlineFailure } from '../../parts/states.tsx';
import { noWork, useWork, WorkFields } from './work-fields.tsx';

/** Dialog for a job: runs a project on phones as they become free, once for each row of a file. */
export function NewJob({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [file, setFile] = useState<File>();
  const [error, setError] = useState<unknown>(null);
  const work = useWork(noWork, error, () => setError(null));
  const create = async (): Promise<void> => {
    if (!work.check()) return;
    setError(null);
    try {
      const inputs = file === undefined ? {} : { inputs_text: await file.text() };
      const { job } = await call('POST /api/v2/jobs', { body: { ...work.body(), ...inputs } });
      await queries.invalidateQueries({ queryKey: ['jobs'] });
      await navigate({ to: '/jobs/$jobId', params: { jobId: job.id } });
    } catch (failure) {
      setError(failure);
    }
  };
  const isOfFile = error instanceof ServiceError && error.code === 'invalid_inputs';
  return (
    <ActionDialog title="New job" action="Create" reason={work.problem} onAct={create} onClose={onClose}>
      <WorkFields
        work={work}
        countLabel={file === undefined ? 'Number of phones to run on' : 'Maximum number of phones at once'}
        countHint={file === undefined ? 'Empty: one phone' : 'Empty: all matching phones'}
        phonesHint="Empty: any phone. Or a selector, such as country=de,model~Pixel or pool=NAME"
      />
      <Field
        label="Table of inputs"
        hint="One run for each row of a CSV file with a header line, or of JSON Lines"
        problem={isOfFile ? `${file?.name ?? 'The file'}: ${error.message}` : undefined}
      >
        {(attributes) => (
          <FileInput
            {...attributes}
            accept=".csv,.tsv,.jsonl,.ndjson,text/csv"
            file={file}
            onChange={(chosen) => {
              setFile(chosen);
              if (isOfFile) setError(null);
            }}
          />
        )}
      </Field>
      {error !== null && !isOfFile && <InlineFailure error={error} />}
    </ActionDialog>
  );
}
