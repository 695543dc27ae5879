import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { PhoneLimit, Principal } from './principal.ts';

const limits = Compile(
  Type.Object({
    selector: Type.Union([Type.String(), Type.Null()]),
    most: Type.Union([Type.Integer(), Type.Null()]),
    apps: Type.Union([Type.Array(Type.String()), Type.Null()]),
  }),
);

const projects = Compile(Type.Array(Type.String()));

const budgets = Compile(
  Type.Object({
    tokenId: Type.String(),
    tokenName: Type.String(),
    runs: Type.Union([Type.Integer(), Type.Null()]),
    minutes: Type.Union([Type.Integer(), Type.Null()]),
  }),
);

/** Limits of a token in the rows of work that outlives its request. */
export interface KeptToken {
  readonly token_name: string | null;
  /** JSON of the IDs of the only projects; null: all of the user. */
  readonly token_projects: string | null;
  /** JSON of a `PhoneLimit`, with its maximum under the name `most`; null: none. */
  readonly token_phones: string | null;
  /** JSON of a `Budget`; null: none. */
  readonly token_budget: string | null;
}

/** Packs the limits of a token. Equal limits are equal texts. */
export const keptTokenOf = (
  principal: Pick<Principal, 'tokenName' | 'projectIds' | 'phones' | 'budget'>,
): KeptToken => ({
  token_name: principal.tokenName,
  token_projects: principal.projectIds === null ? null : JSON.stringify([...principal.projectIds].toSorted()),
  token_phones: limitOf(principal),
  token_budget: principal.budget === null ? null : JSON.stringify(principal.budget),
});

/** Returns all limits of the token as one text; null: it has none. */
export const limitsTextOf = ({ token_projects, token_phones, token_budget }: KeptToken): string | null =>
  token_projects === null && token_phones === null && token_budget === null
    ? null
    : JSON.stringify([token_projects, token_phones, token_budget]);

/** Returns the limit of the token to phones and apps; null: none. */
export const limitOf = ({ phones }: Pick<Principal, 'phones'>): string | null =>
  phones === null
    ? null
    : JSON.stringify({ selector: phones.selector, most: phones.maxPhones, apps: phones.apps });

/** Reads the limits of the token back. */
export const limitsOfKept = (
  kept: Pick<KeptToken, 'token_projects' | 'token_phones' | 'token_budget'>,
): Pick<Principal, 'projectIds' | 'phones' | 'budget'> => ({
  projectIds: readProjects(kept.token_projects),
  phones: readLimit(kept.token_phones),
  budget: kept.token_budget === null ? null : budgets.Parse(JSON.parse(kept.token_budget)),
});

export const readProjects = (json: string | null): ReadonlySet<string> | null =>
  json === null ? null : new Set(projects.Parse(JSON.parse(json)));

export function readLimit(json: string | null): PhoneLimit | null {
  if (json === null) return null;
  const { selector, most: maxPhones, apps } = limits.Parse(JSON.parse(json));
  return { selector, maxPhones, apps };
}
