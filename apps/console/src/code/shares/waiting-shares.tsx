import type { ReceivedShare } from '@phalanx/protocol';
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';

import { call } from '../../api/call.ts';
import { useMe, useMissingScope } from '../../api/me.ts';
import { Button } from '../../parts/button.tsx';
import { RemovalButton } from '../../parts/removal-button.tsx';
import { notify } from '../../parts/notices.tsx';
import { InlineFailure } from '../../parts/states.tsx';
import styles from './waiting-shares.module.css';

const waitingQuery = queryOptions({
  queryKey: ['shares', 'waiting'],
  // Reads only the first page: the others follow once these are decided.
  queryFn: async ({ signal }): Promise<ReceivedShare[]> =>
    (await call('GET /api/v2/shares', { query: { state: 'waiting', limit: 1000 } }, { signal })).shares,
  // Tokens limited to projects or phones may not read shares.
  retry: false,
});

const kindWords = { device: 'Phone', host: 'All phones of the host', project: 'Project' } as const;
const roleWords = {
  view: 'you can view',
  launch: 'you can launch and touch',
  shared_editor: 'you can edit and launch',
  shared_viewer: 'you can view',
} as const;

const keyOf = ({ kind, id, owner }: ReceivedShare): string => `${kind} ${id} ${owner.id}`;
const nameOf = ({ kind, name, id }: ReceivedShare): string => `${kindWords[kind]} ${name || id}`;

/** Shares that await the user's decision; renders nothing if there are none. */
export function WaitingShares({ kinds }: { kinds: readonly ReceivedShare['kind'][] }) {
  const { data = [] } = useQuery(waitingQuery);
  const queries = useQueryClient();
  const me = useMe();
  const missing = useMissingScope('edit');
  const head = useRef<HTMLHeadingElement>(null);
  const [error, setError] = useState<unknown>(null);
  const shares = data.filter(({ kind }) => kinds.includes(kind));
  if (shares.length === 0) return null;
  const acceptIt = async (share: ReceivedShare): Promise<void> => {
    setError(null);
    await accept(share).then(() => notify(`${nameOf(share)} is accepted.`), setError);
    await readAnew();
  };
  const refuseIt = async (share: ReceivedShare): Promise<void> => {
    await refuse(share, me?.user.id ?? '');
    notify(`${nameOf(share)} is refused.`);
    await readAnew();
  };
  const readAnew = async (): Promise<void> => {
    for (const queryKey of [['shares'], ['devices'], ['hosts'], ['projects']])
      await queries.invalidateQueries({ queryKey });
    // The focused button has been removed.
    head.current?.focus();
  };
  return (
    <section className={styles['shares']} aria-labelledby="waiting-shares">
      <h2 id="waiting-shares" ref={head} tabIndex={-1}>
        Shared with you, waiting for your decision
      </h2>
      <p className={styles['quiet']}>
        Until you accept a share, it is used only where you choose it yourself. Accept only what you expect
        from people you trust: their hosts receive the code and the inputs of what you run there.
      </p>
      <ul>
        {shares.map((share) => (
          <li key={keyOf(share)} className={styles['share']}>
            <span>
              <b>{nameOf(share)}</b> of {share.owner.name}: {roleWords[share.role]}
            </span>
            <Button
              reason={missing}
              aria-label={`Accept ${nameOf(share)} of ${share.owner.name}`}
              onClick={() => void acceptIt(share)}
            >
              Accept
            </Button>
            <RemovalButton
              action="Refuse"
              name={`${nameOf(share)} of ${share.owner.name}`}
              label={`Refuse ${nameOf(share)} of ${share.owner.name}`}
              reason={missing}
              onRemove={() => refuseIt(share)}
            >
              <p>It disappears from your pages. Only {share.owner.name} can share it again.</p>
            </RemovalButton>
          </li>
        ))}
      </ul>
      {error !== null && <InlineFailure error={error} />}
    </section>
  );
}

const accept = ({ kind, id, owner, role }: ReceivedShare): Promise<unknown> =>
  call('POST /api/v2/shares/accept', { body: { kind, id, owner_id: owner.id, role } });

function refuse({ kind, id, owner }: ReceivedShare, userId: string): Promise<unknown> {
  const params = { id, user_id: userId };
  if (kind === 'project') return call('DELETE /api/v2/automation-project/:id/members/:user_id', { params });
  const query = { owner_id: owner.id };
  return kind === 'device'
    ? call('DELETE /api/v2/devices/:id/members/:user_id', { params, query })
    : call('DELETE /api/v2/hosts/:id/members/:user_id', { params, query });
}
