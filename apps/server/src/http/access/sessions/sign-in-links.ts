import { randomBytes } from 'node:crypto';
import { scopes } from '@phalanx/protocol';
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../../../kernel/clock.ts';
import { hourMs, yearMs } from '../../../kernel/durations.ts';
import { hashTokenSecret, createTokenSecret } from '../token-secret.ts';
import type { AccessStore } from '../store.ts';

const linkLifeMs = hourMs;
const linkTokenName = 'sign-in link';

/** Links with which people who read the service's terminal sign in, once each, within the hour. */
export class SignInLinks {
  readonly #store: AccessStore;
  readonly #clock: Clock;

  constructor(store: AccessStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** The secret of a link for the administrator. */
  async create(): Promise<string> {
    const secret = randomBytes(32).toString('base64url');
    const tokenId = await this.#tokenId();
    const expiresAt = this.#clock.now() + linkLifeMs;
    await this.#store.insertSignInLink({ hash: hashTokenSecret(secret), tokenId, expiresAt });
    return secret;
  }

  /** Takes a link, which then does not work again. Returns the ID of the token that stands behind it. */
  take(secret: string): Promise<string | undefined> {
    return this.#store.takeSignInLink(hashTokenSecret(secret), this.#clock.now());
  }

  /** One token for all links, so that sign-ins outlast a restart and can be revoked. Nobody knows its secret. */
  async #tokenId(): Promise<string> {
    const user = await this.#store.findAdministrator();
    if (user === undefined) throw new Error('there is no administrator');
    const now = this.#clock.now();
    const known = await this.#store.findTokenNamed(user.id, linkTokenName);
    if (known !== undefined && (known.expiresAt ?? 0) > now + yearMs / 2) return known.id;
    const times = { createdAt: now, expiresAt: now + yearMs };
    const rights = {
      scopes: [...scopes],
      projectIds: null,
      selector: null,
      maxPhones: null,
      apps: null,
      runsPerDay: null,
      minutesPerDay: null,
      parentId: null,
    };
    const token = { id: uuidv7(), userId: user.id, name: linkTokenName, ...times, ...rights };
    await this.#store.insertToken({ ...token, hash: hashTokenSecret(createTokenSecret()) });
    return token.id;
  }
}
