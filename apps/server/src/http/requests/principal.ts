import type { AppLimit, Scope } from '@phalanx/protocol';

import type { Budget } from '../../storage/db/token-use.ts';

/** Limits of a token on its user's phones. */
export interface PhoneLimit {
  /** Selector of the only phones that the token reaches; null: all. */
  readonly selector: string | null;
  /** Maximum number of phones on which one launch may start; null: any number. */
  readonly maxPhones: number | null;
  /** The only apps that the token may use on phones; null: all. */
  readonly apps: readonly string[] | null;
}

/** User who makes a request, and the rights of the token of the request. */
export interface Principal {
  readonly userId: string;
  readonly userName: string;
  readonly role: 'admin' | 'user';
  readonly tokenId: string;
  readonly tokenName: string;
  readonly scopes: ReadonlySet<Scope>;
  /** The only projects the token may touch; `null` for all of its user. */
  readonly projectIds: ReadonlySet<string> | null;
  /** Limits of the token on phones; `null`: none. */
  readonly phones: PhoneLimit | null;
  /** Budget of the token for a day; `null`: none. */
  readonly budget: Budget | null;
  /** Expiry of the token, epoch ms; `null`: never. Code that outlives a request must check it again. */
  readonly expiresAt: number | null;
}

/** A caller that asks over HTTP for a host. */
export type HostCaller = Pick<Principal, 'userId' | 'tokenId'>;

/** Returns the app limit of the caller, for hosts; undefined: all apps. */
export function appLimitOf({
  phones,
  tokenName: token,
}: Pick<Principal, 'phones' | 'tokenName'>): AppLimit | undefined {
  const apps = phones?.apps ?? null;
  return apps === null ? undefined : { apps: [...apps], token };
}
