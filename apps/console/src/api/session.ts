import { createStore } from './store.ts';

type SessionState = 'unknown' | 'signed in' | 'signed out';

const state = createStore<SessionState>('unknown');

/** Whether this browser is signed in, as the last answers of the service say. */
export const session = {
  store: state,
  begin: (): void => state.set('signed in'),
  end: (): void => state.set('signed out'),
};
