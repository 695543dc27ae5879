import { useQueryClient } from '@tanstack/react-query';

import { call, session } from '../../api/call.ts';
import { notifyFailure } from '../../parts/notices.tsx';

/** Signs this browser out and opens the sign-in page. */
export function useSignOut(): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    try {
      await call('DELETE /api/v2/session', {});
      session.leave();
      queries.clear();
      window.location.assign('/devices');
    } catch (error) {
      notifyFailure('You are still signed in', error);
    }
  };
}
