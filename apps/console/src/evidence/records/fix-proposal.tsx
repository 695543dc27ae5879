import type { RecordGroup, SignCandidate } from '@phalanx/protocol';
import { useNavigate } from '@tanstack/react-router';
import { useId, useState } from 'react';

import { call, type Reply } from '../../api/call.ts';
import { useMissingScope } from '../../api/me.ts';
import { Button } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { Input, Select } from '../../parts/field.tsx';
import { InlineFailure } from '../../parts/states.tsx';
import { DiffList } from '../../code/projects/diff-list.tsx';
import { draftsOf } from '../../code/projects/editor/drafts.ts';
import styles from './groups.module.css';

type Proposal = Reply<'POST /api/v2/groups/:id/propose'>;
type Kind = Proposal['kind'];

interface ProposeFixProps {
  group: RecordGroup;
  userId: string;
}

/** Identifying features of the group's screens and, for each, a code change that the user can turn into a draft. */
export function ProposeFix({ group, userId }: ProposeFixProps) {
  const missingEdit = useMissingScope('edit');
  const missingReview = useMissingScope('review');
  const [state, setState] = useState('');
  const [kind, setKind] = useState<Kind>('state');
  const [proposal, setProposal] = useState<Proposal>();
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const propose = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      const body = { kind, ...(state.trim() === '' ? {} : { state: state.trim() }) };
      setProposal(await call('POST /api/v2/groups/:id/propose', { params: { id: group.id }, body }));
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <section className={styles['fix']} aria-label="Fix">
      <div className={styles['verdicts']}>
        <Button reason={missingReview ?? missingEdit} isBusy={isBusy} onClick={() => void propose()}>
          Propose a fix
        </Button>
        <Select
          label="What it becomes in the code"
          value={kind}
          options={[
            { value: 'state', label: 'as a state' },
            { value: 'dialog', label: 'as a dialog that is closed' },
          ]}
          onChange={setKind}
        />
        <Input
          className={styles['short']}
          aria-label="Name in the code"
          placeholder="its title"
          value={state}
          onChange={({ target }) => setState(target.value)}
        />
      </div>
      {error !== null && <InlineFailure error={error} />}
      {proposal !== undefined && <Candidates {...{ group, userId, proposal }} />}
    </section>
  );
}

interface CandidatesProps extends ProposeFixProps {
  proposal: Proposal;
}

const fragileText: Record<SignCandidate['fragile'][number], string> = {
  opaque_id: 'the ID may change with the app',
  text: 'needs a text',
  one_language: 'one language',
  one_app_version: 'one version of the app',
  seen_once: 'seen once',
};

function Candidates({ group, userId, proposal }: CandidatesProps) {
  const { candidates, screens, others, problem, state } = proposal;
  const [number, setNumber] = useState(0);
  const name = useId();
  const chosen = candidates[number] ?? candidates[0];
  if (chosen === undefined) return <p role="status">{problem}</p>;
  return (
    <>
      <fieldset className={styles['signs']}>
        <legend>
          Signs of <b>{state}</b>
        </legend>
        {candidates.map(({ sign, holds, elsewhere, fragile }, index) => (
          <label key={sign} className={styles['sign']}>
            <input
              type="radio"
              name={name}
              checked={candidates[number] === undefined ? index === 0 : index === number}
              onChange={() => setNumber(index)}
            />
            <code>{sign}</code>
            <span>
              holds on {holds} of {screens}, elsewhere on {elsewhere} of {others}
            </span>
            <span className={styles['quiet']}>{fragile.map((one) => fragileText[one]).join(', ')}</span>
          </label>
        ))}
      </fieldset>
      <Change key={chosen.sign} {...{ group, userId, chosen }} />
    </>
  );
}

interface ChangeProps extends ProposeFixProps {
  chosen: SignCandidate;
}

function Change({ group, userId, chosen: { files, problem, snippet } }: ChangeProps) {
  const navigate = useNavigate();
  const [inTheWay, setInTheWay] = useState<string>();
  const projectId = group.automation_id;
  const open = async (): Promise<void> => {
    const drafts = draftsOf(userId, projectId);
    const known = await drafts.list();
    const taken = files.find(({ path }) => known.includes(path));
    if (taken !== undefined) return setInTheWay(taken.path);
    for (const { path, content, etag } of files) await drafts.keep(path, { content, baseEtag: etag });
    const file = files[0]?.path ?? 'main.ts';
    return navigate({ to: '/projects/$projectId', params: { projectId }, search: { file, group: group.id } });
  };
  if (files.length === 0)
    return (
      <div role="status">
        <p>
          {problem} Add it by hand: <CopyButton text={snippet} label="Copy the code" />
        </p>
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls */}
        <pre tabIndex={0} role="region" aria-label="Code to add" className={styles['snippet']}>
          {snippet}
        </pre>
      </div>
    );
  return (
    <>
      <DiffList files={files.map(({ path, diff }) => ({ path, change: 'modified', diff }))} />
      {inTheWay !== undefined && (
        <p role="alert">{inTheWay} has unsaved changes here. Save or discard them in the editor first.</p>
      )}
      <div className={styles['verdicts']}>
        <Button look="primary" onClick={() => void open()}>
          Open in editor as draft
        </Button>
        <span className={styles['quiet']}>Nothing is saved until you save the draft.</span>
      </div>
    </>
  );
}
