import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import { call } from '../../api/call.ts';
import { useMissingScope } from '../../api/me.ts';
import { poolsQuery } from './device.tsx';
import { Button } from '../../parts/button.tsx';
import { ActionDialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/field.tsx';
import { notify } from '../../parts/notices.tsx';
import { RemovalButton } from '../../parts/removal-button.tsx';
import { Failure, InlineFailure, Loading } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { JobsFrame } from '../../work/jobs/jobs-frame.tsx';

/** Saved selectors. */
export function PoolsPage() {
  const { data: pools, error, refetch } = useQuery(poolsQuery);
  const missing = useMissingScope('edit');
  const [isNew, setNew] = useState(false);
  return (
    <JobsFrame
      title="Pools"
      actions={
        <Button look="primary" reason={missing} onClick={() => setNew(true)}>
          New pool…
        </Button>
      }
    >
      {pools === undefined &&
        (error === null ? <Loading rows={4} /> : <Failure error={error} onRetry={() => void refetch()} />)}
      {pools?.length === 0 && <p>A pool is a saved selector, such as country=de,model~Pixel.</p>}
      {pools !== undefined && pools.length > 0 && <PoolTable pools={pools} />}
      {isNew && <NewPool onClose={() => setNew(false)} />}
    </JobsFrame>
  );
}

interface Pool {
  readonly name: string;
  readonly selector: string;
  readonly devices: { readonly ready: number; readonly total: number };
}

const columns: readonly Column<Pool>[] = [
  {
    header: 'Name',
    width: 'fit',
    isMain: true,
    content: ({ name }) => (
      <Link to="/devices" search={{ labels: `pool=${name}` }}>
        {name}
      </Link>
    ),
  },
  { header: 'Selector', width: 'grow', minimum: 160, content: ({ selector }) => <code>{selector}</code> },
  { header: 'Phones', width: 'fit', text: ({ devices }) => `${devices.ready} of ${devices.total} ready` },
];

function PoolTable({ pools }: { pools: readonly Pool[] }) {
  const queries = useQueryClient();
  const missing = useMissingScope('edit');
  const remove = async (name: string): Promise<void> => {
    await call('DELETE /api/v2/pools/:name', { params: { name } });
    notify(`The pool “${name}” was deleted`);
    await queries.invalidateQueries({ queryKey: poolsQuery.queryKey });
  };
  return (
    <Table
      label="List of pools"
      columns={columns}
      rows={pools}
      keyOf={({ name }) => name}
      actions={({ name }) => (
        <RemovalButton
          name={`the pool “${name}”`}
          label={`Delete pool ${name}`}
          reason={missing}
          onRemove={() => remove(name)}
        >
          <p>Schedules that name it skip their turns. Its phones stay. This cannot be undone.</p>
        </RemovalButton>
      )}
    />
  );
}

function NewPool({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [selector, setSelector] = useState('');
  const [error, setError] = useState<unknown>(null);
  const save = async (): Promise<void> => {
    try {
      await call('PUT /api/v2/pools/:name', { params: { name: name.trim() }, body: { selector } });
      await queries.invalidateQueries({ queryKey: poolsQuery.queryKey });
      onClose();
    } catch (failure) {
      setError(failure);
    }
  };
  const reason = name.trim() === '' || selector === '' ? 'Enter a name and a selector.' : undefined;
  return (
    <ActionDialog title="New pool" action="Save" reason={reason} onAct={save} onClose={onClose}>
      <TextField label="Name" value={name} onChange={setName} />
      <TextField
        label="Selector"
        hint="For example, country=de,model~Pixel"
        value={selector}
        onChange={setSelector}
      />
      {error !== null && <InlineFailure error={error} />}
    </ActionDialog>
  );
}
