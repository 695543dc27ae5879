import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import { SettingsTable } from '../access/settings-table.tsx';
import { call } from '../api/call.ts';
import { useMissingScope } from '../api/me.ts';
import { poolsQuery } from '../devices/use-selector.ts';
import { Button } from '../parts/button.tsx';
import { ActionDialog } from '../parts/dialog.tsx';
import { TextField } from '../parts/field.tsx';
import { notifyFailure } from '../parts/notices.tsx';
import { InlineFailure } from '../parts/states.tsx';
import styles from './jobs.module.css';

/** Saved selectors. */
export function Pools() {
  const { data: pools = [] } = useQuery(poolsQuery);
  const queries = useQueryClient();
  const missing = useMissingScope('edit');
  const [isNew, setNew] = useState(false);
  const remove = async (name: string): Promise<void> => {
    try {
      await call('DELETE /api/v2/pools/:name', { params: { name } });
    } catch (error) {
      notifyFailure(`The pool “${name}” is not deleted`, error);
    }
    await queries.invalidateQueries({ queryKey: poolsQuery.queryKey });
  };
  return (
    <section className={styles['section']}>
      <div className={styles['head']}>
        <h2>Pools</h2>
        <Button reason={missing} onClick={() => setNew(true)}>
          New pool…
        </Button>
      </div>
      {pools.length === 0 ? (
        <p className={styles['quiet']}>A pool is a saved selector, such as country=de,model~Pixel.</p>
      ) : (
        <SettingsTable label="Pools" columns={['Name', 'Selector', 'Phones']} hasActions>
          {pools.map(({ name, selector, devices }) => (
            <tr key={name}>
              <td>
                <Link to="/devices" search={{ labels: `pool=${name}` }}>
                  {name}
                </Link>
              </td>
              <td>
                <code>{selector}</code>
              </td>
              <td className={styles['quiet']}>
                {devices.ready} of {devices.total} ready
              </td>
              <td>
                <Button look="quiet" reason={missing} onClick={() => void remove(name)}>
                  Delete
                </Button>
              </td>
            </tr>
          ))}
        </SettingsTable>
      )}
      {isNew && <NewPool onClose={() => setNew(false)} />}
    </section>
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
  const reason = name.trim() === '' || selector === '' ? 'A pool has a name and a selector.' : undefined;
  return (
    <ActionDialog title="New pool" action="Save" reason={reason} onAct={save} onClose={onClose}>
      <TextField label="Name" value={name} onChange={setName} />
      <TextField
        label="Selector"
        hint="Such as country=de,model~Pixel"
        value={selector}
        onChange={setSelector}
      />
      {error !== null && <InlineFailure error={error} />}
    </ActionDialog>
  );
}
