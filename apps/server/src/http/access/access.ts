import type { Clock } from '../../kernel/clock.ts';
import type { Db } from '../../storage/db/database.ts';
import type { FaultMonitor } from '../../kernel/faults/fault-monitor.ts';
import { OwnAddress } from '../requests/own-address.ts';
import type { Limits } from '../../kernel/limits/limits.ts';
import { type Authenticator, createAuthenticator } from './authenticator.ts';
import { createSessionStore } from './sessions/session-store.ts';
import { Sessions } from './sessions/sessions.ts';
import { SignInLinks } from './sessions/sign-in-links.ts';
import { type AccessStore, createAccessStore } from './store.ts';

export interface Access {
  readonly store: AccessStore;
  readonly authenticator: Authenticator;
  readonly sessions: Sessions;
  readonly ownAddress: OwnAddress;
  readonly links: SignInLinks;
}

interface AddressSettings {
  readonly listen: { readonly host: string };
  /** Address of the console for browsers; undefined: the listening address. */
  readonly publicUrl: URL | undefined;
}

interface AccessContext {
  config: AddressSettings;
  database: Db;
  clock: Clock;
  limits: Limits;
  faults: FaultMonitor;
}

/** Opens users, tokens and sessions, which identify the caller of a request. */
export function openAccess({ config, database, clock, limits, faults }: AccessContext): Access {
  const store = createAccessStore(database);
  const authenticator = createAuthenticator({ store, clock, limits, faults });
  const ownAddress = new OwnAddress(config.listen.host, config.publicUrl);
  const sessions = new Sessions({ store: createSessionStore(database), authenticator, ownAddress, clock });
  return { store, authenticator, sessions, ownAddress, links: new SignInLinks(store, clock) };
}
