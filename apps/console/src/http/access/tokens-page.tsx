import type { Scope, Token } from '@phalanx/protocol';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { readAll } from '@phalanx/client/read-all';
import { call } from '../../api/call.ts';
import { useMe, useMissingScope } from '../../api/me.ts';
import { Button } from '../../parts/button.tsx';
import { ActionDialog } from '../../parts/dialog.tsx';
import { Field, selectClass, TextField } from '../../parts/field.tsx';
import { notify } from '../../parts/notices.tsx';
import { RemovalButton } from '../../parts/removal-button.tsx';
import { InlineFailure, Loading } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Age, Moment } from '../../parts/time.tsx';
import { SecretDialog } from './secret-dialog.tsx';
import { SettingsPage } from './settings-page.tsx';
import styles from './settings.module.css';

const dayMs = 86_400_000;
const lives = { '7': '7 days', '30': '30 days', '90': '90 days', '365': 'a year' } as const;

export function TokensPage() {
  const me = useMe();
  const missing = useMissingScope('admin');
  const [isOpen, setOpen] = useState(false);
  const userId = me?.user.id ?? '';
  const { data, error, refetch } = useQuery({
    queryKey: ['tokens', userId],
    enabled: me !== undefined,
    queryFn: ({ signal }) =>
      readAll(
        (query) => call('GET /api/v2/tokens', { query: { ...query, user_id: userId } }, { signal }),
        ({ tokens }) => tokens,
      ),
  });
  return (
    <SettingsPage
      part="Tokens"
      actions={
        <Button look="primary" reason={missing} onClick={() => setOpen(true)}>
          New token…
        </Button>
      }
    >
      <p>
        A token signs in the command line, CI, hosts and this console as you, with the scopes that it allows.
      </p>
      {error !== null && <InlineFailure error={error} onRetry={() => void refetch()} />}
      {data === undefined ? (
        <Loading rows={3} />
      ) : (
        <TokenTable tokens={data} own={me?.token.id} reason={missing} />
      )}
      {isOpen && me !== undefined && <NewToken scopes={me.token.scopes} onClose={() => setOpen(false)} />}
    </SettingsPage>
  );
}

interface TokenTableProps {
  tokens: readonly Token[];
  own: string | undefined;
  reason: string | undefined;
}

function RevokeToken({ token: { id, name }, reason }: { token: Token; reason: string | undefined }) {
  const queries = useQueryClient();
  const revoke = async (): Promise<void> => {
    await call('DELETE /api/v2/tokens/:id', { params: { id } });
    notify(`“${name}” was revoked`);
    await queries.invalidateQueries({ queryKey: ['tokens'] });
  };
  return (
    <RemovalButton
      action="Revoke"
      name={`“${name}”`}
      label={`Revoke ${name}`}
      reason={reason}
      onRemove={revoke}
    >
      <p>Anything that uses this token stops working at once. This cannot be undone.</p>
    </RemovalButton>
  );
}

const columns: readonly Column<Token>[] = [
  { header: 'Name', width: 'grow', minimum: 140, isMain: true, text: ({ name }) => name },
  { header: 'Allows', width: 'grow', minimum: 160, text: ({ scopes }) => scopes.join(', ') },
  { header: 'Phones', width: 'grow', text: (token) => phonesOf(token) },
  { header: 'Apps', width: 'grow', text: (token) => appsOf(token) },
  { header: 'Today', width: 'grow', text: (token) => budgetOf(token) },
  {
    header: 'Last used',
    width: 'fit',
    content: ({ last_used_at: at }) =>
      at === null ? (
        'never'
      ) : (
        <>
          <Age since={at} /> ago
        </>
      ),
  },
  {
    header: 'Expires',
    width: 'fit',
    content: ({ expires_at: at }) => (at === null ? 'never' : <Moment at={at} />),
  },
];

const TokenTable = ({ tokens, own, reason }: TokenTableProps) => (
  <Table
    label="Tokens"
    columns={columns}
    rows={tokens}
    keyOf={({ id }) => id}
    actions={(token) =>
      token.id === own ? (
        <span className={styles['quiet']}>this sign-in</span>
      ) : (
        <RevokeToken token={token} reason={reason} />
      )
    }
  />
);

const phonesOf = ({ selector, max_phones: maxPhones }: Token): string =>
  [selector ?? 'all', ...(maxPhones === null ? [] : [`${maxPhones} a launch`])].join(' · ');

const appsOf = ({ apps }: Token): string => apps?.join(', ') ?? 'all';

function budgetOf({ budget }: Token): string {
  if (budget === null) return '';
  const { runs_per_day: runs, minutes_per_day: minutes } = budget;
  return [
    ...(runs === null ? [] : [`${budget.runs_used} of ${runs} runs`]),
    ...(minutes === null ? [] : [`${budget.minutes_used} of ${minutes} min`]),
  ].join(' · ');
}

/** Splits a list separated by commas, spaces, or both. */
const wordsIn = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== '');

function NewToken({ scopes, onClose }: { scopes: readonly Scope[]; onClose: () => void }) {
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [days, setDays] = useState('90');
  const [selector, setSelector] = useState('');
  const [maxPhones, setMaxPhones] = useState('');
  const [apps, setApps] = useState('');
  const [runs, setRuns] = useState('');
  const [minutes, setMinutes] = useState('');
  const [chosen, setChosen] = useState<readonly Scope[]>(
    scopes.filter((one) => !['host', 'admin'].includes(one)),
  );
  const [secret, setSecret] = useState<string>();
  const [error, setError] = useState<unknown>(null);
  const create = async (): Promise<void> => {
    try {
      const body = {
        name,
        scopes: [...chosen],
        expires_at: Date.now() + Number(days) * dayMs,
        ...(selector.trim() === '' ? {} : { selector: selector.trim() }),
        ...(maxPhones.trim() === '' ? {} : { max_phones: Number(maxPhones) }),
        ...(wordsIn(apps).length === 0 ? {} : { apps: wordsIn(apps) }),
        ...(runs.trim() === '' ? {} : { runs_per_day: Number(runs) }),
        ...(minutes.trim() === '' ? {} : { minutes_per_day: Number(minutes) }),
      };
      setSecret((await call('POST /api/v2/tokens', { body })).secret);
      await queries.invalidateQueries({ queryKey: ['tokens'] });
    } catch (failure) {
      setError(failure);
    }
  };
  if (secret !== undefined)
    return (
      <SecretDialog title={`Token “${name}”`} secret={secret} onClose={onClose}>
        Copy it now. It is shown only once and not stored.
      </SecretDialog>
    );
  const problem =
    name.trim() === ''
      ? 'Enter a name.'
      : chosen.length === 0
        ? 'Choose what it allows.'
        : [maxPhones, runs, minutes].every((text) => /^\d*$/.test(text.trim()))
          ? undefined
          : 'Enter numbers in digits.';
  return (
    <ActionDialog title="New token" onClose={onClose} action="Create" reason={problem} onAct={create}>
      <TextField
        label="Name"
        hint="What the token is for, such as “Shop CI”."
        value={name}
        onChange={setName}
      />
      <fieldset>
        <legend>It allows</legend>
        <div className={styles['choices']}>
          {scopes.map((scope) => (
            <label key={scope}>
              <input
                type="checkbox"
                checked={chosen.includes(scope)}
                onChange={({ target }) =>
                  setChosen(target.checked ? [...chosen, scope] : chosen.filter((one) => one !== scope))
                }
              />
              {scope}
            </label>
          ))}
        </div>
      </fieldset>
      <TextField
        label="Only phones"
        hint="For example, country=de,model~Pixel or pool=night. Empty: all your phones."
        value={selector}
        onChange={setSelector}
      />
      <TextField
        label="Maximum phones per launch"
        hint="Empty: no limit."
        value={maxPhones}
        onChange={setMaxPhones}
      />
      <TextField
        label="Only apps"
        hint="For example, com.example.shop, com.example.bank.*. Empty: all. A token limited to apps cannot use the shell or install apps."
        value={apps}
        onChange={setApps}
      />
      <TextField label="Maximum runs per day" hint="Empty: no limit." value={runs} onChange={setRuns} />
      <TextField
        label="Maximum minutes of runs per day"
        hint="Total of all its runs. Days end at midnight UTC. Empty: no limit."
        value={minutes}
        onChange={setMinutes}
      />
      <Field label="Expires after">
        {(attributes) => (
          <select
            {...attributes}
            className={selectClass}
            value={days}
            onChange={({ target }) => setDays(target.value)}
          >
            {Object.entries(lives).map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        )}
      </Field>
      {error !== null && <InlineFailure error={error} />}
    </ActionDialog>
  );
}
