import {
  defaultScopes,
  type accessRoutes,
  parseSelector,
  type Scope,
  SelectorProblem,
  type Token,
} from '@phalanx/protocol';
import type { Static } from 'typebox';
import { v7 as uuidv7 } from 'uuid';

import { ApiError } from '../errors/api-error.ts';
import type { Principal } from '../http/principal.ts';
import { requireName } from '../http/require-name.ts';
import { parseTime } from '../http/time-input.ts';
import type { Clock } from '../clock.ts';
import type { Limits } from '../limits/limits.ts';
import { freeAt, type TokenUse, unused } from '../limits/token-use-store.ts';
import { type AccessStore, hasBudget, type StoredToken } from './store.ts';
import { createTokenSecret, hashTokenSecret } from './token-secret.ts';

type TokenRequest = Static<typeof accessRoutes.createToken.body>;

const yearMs = 365 * 24 * 60 * 60 * 1000;

const minuteMs = 60_000;

/** `use`: of today; needed for a token with a budget. */
export function tokenView(token: StoredToken, use: TokenUse, now: number): Token {
  return {
    id: token.id,
    user_id: token.userId,
    name: token.name,
    scopes: token.scopes,
    project_ids: token.projectIds,
    selector: token.selector,
    max_phones: token.maxPhones,
    apps: token.apps,
    budget: hasBudget(token)
      ? {
          ...{ runs_per_day: token.runsPerDay, minutes_per_day: token.minutesPerDay },
          ...{ runs_used: use.runs, minutes_used: Math.floor(use.runMs / minuteMs), free_at: freeAt(now) },
        }
      : null,
    created_at: token.createdAt,
    expires_at: token.expiresAt,
    last_used_at: token.lastUsedAt,
  };
}

/** Epoch ms; a token never outlives the one it was made with. */
function expiryOf(request: TokenRequest, principal: Principal, now: number): number {
  return Math.min(wantedExpiryOf(request, now), principal.expiresAt ?? Number.POSITIVE_INFINITY);
}

function wantedExpiryOf(request: TokenRequest, now: number): number {
  if (request.expires_at === undefined) return now + yearMs;
  const expiresAt = parseTime(request.expires_at, 'Field expires_at');
  if (expiresAt > now) return expiresAt;
  throw ApiError.of('invalid_request', { problem: 'Field expires_at must be in the future' });
}

/** A token never makes one that may do more than itself. */
function scopesOf(request: TokenRequest, principal: Principal): Scope[] {
  const wanted = request.scopes ?? defaultScopes.filter((scope) => principal.scopes.has(scope));
  const missing = wanted.filter((scope) => !principal.scopes.has(scope));
  if (missing.length > 0) {
    throw ApiError.of('forbidden', {
      reason: `This token can't give the scope ${missing.join(', ')}: it does not have it`,
    });
  }
  return [...new Set(wanted)];
}

function projectsOf(request: TokenRequest, principal: Principal): string[] | null {
  const allowed = principal.projectIds;
  const asked = request.project_ids?.map((id) => id.toLowerCase());
  const wanted = asked ?? (allowed === null ? null : [...allowed]);
  const foreign = allowed === null ? [] : (wanted ?? []).filter((id) => !allowed.has(id));
  if (foreign.length > 0) {
    throw ApiError.of('forbidden', {
      reason: `This token can't give access to project ${foreign.join(', ')}`,
    });
  }
  return wanted;
}

/** The selector of the phones that a token reaches. Throws `invalid_selector`. */
function selectorOf({ selector, device_ids: ids }: TokenRequest): string | null {
  const terms = [
    ...(selector === undefined ? [] : [selector]),
    ...(ids === undefined ? [] : [`id=${ids.join('|')}`]),
  ];
  if (terms.length === 0) return null;
  const text = terms.join(',');
  try {
    parseSelector(text);
    return text;
  } catch (error) {
    if (!(error instanceof SelectorProblem)) throw error;
    throw ApiError.of('invalid_selector', { selector: text, problem: error.message });
  }
}

/** In one order: equal limits are equal texts. */
const appsOf = ({ apps }: TokenRequest): string[] | null =>
  apps === undefined ? null : [...new Set(apps)].toSorted();

async function ownerOf(store: AccessStore, request: TokenRequest, principal: Principal): Promise<string> {
  const userId = request.user_id ?? principal.userId;
  if (userId === principal.userId) return userId;
  if (principal.role !== 'admin') {
    throw ApiError.of('forbidden', { reason: 'Only administrators make tokens for other users' });
  }
  if ((await store.findUser(userId)) === undefined) throw ApiError.of('user_not_found', { user_id: userId });
  return userId;
}

async function requireProjects(store: AccessStore, userId: string, ids: readonly string[]): Promise<void> {
  const foreign = await store.findForeignProjects(userId, ids);
  if (foreign.length === 0) return;
  throw ApiError.of('invalid_request', {
    problem: `Field project_ids names no project of the user: ${foreign.slice(0, 20).join(', ')}`,
  });
}

interface TokenMaker {
  store: AccessStore;
  clock: Clock;
  limits: Limits;
  /** Told of the token before it is stored. */
  onMade: (token: Token) => void;
}

/** Makes a token as asked; the secret is returned here and nowhere else. */
export async function createToken(
  { store, clock, limits, onMade }: TokenMaker,
  principal: Principal,
  request: TokenRequest,
): Promise<{ token: Token; secret: string }> {
  // It would have a budget of its own, or none.
  if (principal.budget !== null)
    throw ApiError.of('forbidden', { reason: 'A token with a budget makes no tokens' });
  const now = clock.now();
  const secret = createTokenSecret();
  const projectIds = projectsOf(request, principal);
  const userId = await ownerOf(store, request, principal);
  if (projectIds !== null) await requireProjects(store, userId, projectIds);
  const token: StoredToken = {
    expiresAt: expiryOf(request, principal, now),
    id: uuidv7(),
    scopes: scopesOf(request, principal),
    projectIds,
    selector: selectorOf(request),
    maxPhones: request.max_phones ?? null,
    apps: appsOf(request),
    runsPerDay: request.runs_per_day ?? null,
    minutesPerDay: request.minutes_per_day ?? null,
    userId,
    name: requireName(request.name),
    createdAt: now,
    lastUsedAt: null,
    // Only the operator's own tokens have no end: they are replaced at each start, and what they made stays.
    parentId: principal.expiresAt === null ? null : principal.tokenId,
  };
  const view = tokenView(token, unused, now);
  onMade(view);
  const row = { ...token, hash: hashTokenSecret(secret) };
  if (!(await store.insertTokenWithin(row, limits.most('tokens')))) throw limits.refusal('tokens', userId);
  return { token: view, secret };
}
