import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import type { PhoneLimit, Principal } from '../http/principal.ts';
import type { Budget } from '../limits/token-use-store.ts';

const limits = Compile(
  Type.Object({
    selector: Type.Union([Type.String(), Type.Null()]),
    most: Type.Union([Type.Integer(), Type.Null()]),
    apps: Type.Union([Type.Array(Type.String()), Type.Null()]),
  }),
);

/** The limit of the token, as rows of jobs and schedules keep it: equal limits are equal texts. */
export const limitOf = ({ phones }: Principal): string | null =>
  phones === null
    ? null
    : JSON.stringify({ selector: phones.selector, most: phones.most, apps: phones.apps });

export const readLimit = (json: string | null): PhoneLimit | null =>
  json === null ? null : limits.Parse(JSON.parse(json));

/** Such a token reaches what was made with its own limit; any other token, what its user reaches. */
export const isWithinLimit = (
  principal: Principal,
  { user_id, token_phones }: { user_id: string; token_phones: string | null },
): boolean =>
  principal.phones === null || (user_id === principal.userId && token_phones === limitOf(principal));

/** The terms of the job and of its token's limit; null: any phone. */
export function limitedSelector({
  selector,
  token_phones,
}: {
  selector: string | null;
  token_phones: string | null;
}): string | null {
  const terms = [selector, readLimit(token_phones)?.selector ?? null].filter((one) => one !== null);
  return terms.length === 0 ? null : terms.join(',');
}

const budgets = Compile(
  Type.Object({
    ...{ tokenId: Type.String(), tokenName: Type.String() },
    runs: Type.Union([Type.Integer(), Type.Null()]),
    minutes: Type.Union([Type.Integer(), Type.Null()]),
  }),
);

/** What the token may use in a day, as rows of jobs and schedules keep it. */
export const keptBudget = ({ budget }: Principal): string | null =>
  budget === null ? null : JSON.stringify(budget);

export const readBudget = (json: string | null): Budget | null =>
  json === null ? null : budgets.Parse(JSON.parse(json));
