import { type ReceivedShare as Share, shareRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import type { Acceptance } from '../../http/acceptance.ts';
import type { Clock } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { readPage } from '../../http/requests/replies/page.ts';
import { addRoute } from '../../http/requests/route.ts';
import type { ReceivedShare, ReceivedShareStore } from './store.ts';

interface Options {
  store: ReceivedShareStore;
  clock: Clock;
  /** Accepts a share. False when it no longer exists, or has another role. */
  accept: (share: ReceivedShare, acceptance: Acceptance) => Promise<boolean>;
}

/** `GET /shares` · `POST /shares/accept` */
export function addShareRoutes(app: FastifyInstance, { store, clock, accept }: Options): void {
  addRoute(app, shareRoutes.list, async ({ principal, query }) => {
    const { items, next_cursor } = await readPage(
      query,
      ({ cursor: after = '', limit }) => store.list(principal.userId, { state: query.state, after, limit }),
      ({ position }) => position,
    );
    return { success: true, shares: items.map(shareView), next_cursor };
  });

  addRoute(app, shareRoutes.accept, async ({ principal, body, auditEvent }) => {
    const { userId } = principal;
    const { kind, id } = body;
    const missing = ApiError.of('share_not_found', { target: `${kind} ${id}`, user_id: userId });
    const name = { kind, id, ownerId: body.owner_id?.toLowerCase() };
    const [share, other] = await store.find(userId, name);
    if (share === undefined) throw missing;
    if (other !== undefined)
      throw ApiError.of('invalid_request', {
        problem: 'Field owner_id is missing: several users share a host of this ID with you',
      });
    auditEvent.on({ type: kind, id: share.id, name: share.name }, [share.owner_id]);
    const now = clock.now();
    if (!(await accept(share, { userId, role: body.role, now }))) {
      const [changed] = body.role === undefined ? [] : await store.find(userId, name);
      if (changed === undefined) throw missing;
      throw ApiError.of('share_changed', { target: `${kind} ${id}`, role: changed.role });
    }
    return { success: true, share: shareView({ ...share, accepted_at: share.accepted_at ?? now }) };
  });
}

function shareView(row: ReceivedShare): Share {
  const { position: _position, owner_id, owner_name, ...share } = row;
  return { ...share, owner: { id: owner_id, name: owner_name } };
}
