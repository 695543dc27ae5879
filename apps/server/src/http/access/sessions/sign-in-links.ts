import { randomBytes } from 'node:crypto';
import { scopes } from '@phalanx/protocol';
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../../../kernel/clock.ts';
import { hourMs, yearMs } from '@phalanx/timing/durations';
import { hashTokenSecret, createTokenSecret } from '../token-secret.ts';
import type { AccessStore } from '../store.ts';

const linkLifeMs = hourMs;
const linkTokenName = 'sign-in link';

/** Sign-in links for people who read the service's terminal. A link works once, within an hour. */
export class SignInLinks {
  readonly #store: AccessStore;
  readonly #clock: Clock;

  constructor(store: AccessStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Creates a link for the administrator, and returns its secret. */
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

  /**
   * Returns the token of all links. Through it, sign-ins outlast a restart and can be revoked. Its secret is discarded.
   */
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
