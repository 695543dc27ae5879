import type { AppLimit, Scope } from '@phalanx/protocol';

import type { Budget } from '../../storage/db/token-use.ts';

/** What a token may reach of its user's phones. */
export interface PhoneLimit {
  /** Only phones that it selects; null: all. */
  readonly selector: string | null;
  /** On so many one launch may start; null: any number. */
  readonly most: number | null;
  /** The only apps that it may use there; null: all. */
  readonly apps: readonly string[] | null;
}

/** Who makes a request, and what the token of the request allows. */
export interface Principal {
  readonly userId: string;
  readonly userName: string;
  readonly role: 'admin' | 'user';
  readonly tokenId: string;
  readonly tokenName: string;
  readonly scopes: ReadonlySet<Scope>;
  /** The only projects the token may touch; `null` for all of its user. */
  readonly projectIds: ReadonlySet<string> | null;
  /** What limits the token to phones; `null`: nothing. */
  readonly phones: PhoneLimit | null;
  /** What the token may use in a day; `null`: anything. */
  readonly budget: Budget | null;
  /** When the token ends, epoch ms; `null`: never. What outlives a request has to look at it again. */
  readonly expiresAt: number | null;
}

/** A caller that asks over HTTP for a host. */
export type HostCaller = Pick<Principal, 'userId' | 'tokenId'>;

/** What hosts are told of the apps that the caller may use; undefined: all. */
export function appLimitOf({
  phones,
  tokenName: token,
}: Pick<Principal, 'phones' | 'tokenName'>): AppLimit | undefined {
  const apps = phones?.apps ?? null;
  return apps === null ? undefined : { apps: [...apps], token };
}
