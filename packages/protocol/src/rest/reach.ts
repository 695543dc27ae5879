/** Kinds of limits of a token, in addition to its scopes. */
export const limitKinds = ['projects', 'phones', 'apps', 'max_phones', 'budget'] as const;
export type LimitKind = (typeof limitKinds)[number];

/**
 * Decision of an entry point about a token with such a limit. `refused`: access is denied · `within`: access is
 * restricted to what the limit allows · `open`: the limit does not apply.
 */
export type LimitAnswer = 'refused' | 'within' | 'open';

/**
 * Way in which a request names the phones that it reaches, by which a token that is limited to phones is checked.
 * `refused`: closed to such tokens · `none`: reaches no phone · `path`, `body`: the phone in its path or body · `run`:
 * the phone of the run in its path · `query`: the phone whose runs it lists · `selector`: the phones of its selector,
 * which is narrowed · `wall`: as `selector`, and each phone is checked again in every turn · `launch`: the phones that
 * a launch names or selects · `direct`: the phone of direct code · `work`: the phones of a job or a schedule, whose
 * tasks are checked again · `kept`: jobs and schedules that keep the same limit · `calls`: calls endpoints, each of
 * which checks again · `own_token`: concerns the token itself.
 */
export type PhoneReach =
  | 'refused'
  | 'none'
  | 'path'
  | 'body'
  | 'run'
  | 'query'
  | 'selector'
  | 'wall'
  | 'launch'
  | 'direct'
  | 'work'
  | 'kept'
  | 'calls'
  | 'own_token';

/** Resources that a request reaches, by which limited tokens are checked at every entry point of the service. */
export interface Reach {
  readonly projects: LimitAnswer;
  readonly phones: PhoneReach;
  /**
   * `refused`: closed to tokens that are limited to apps. By default, they reach the phones that they may use, and
   * their apps there.
   */
  readonly apps?: 'refused';
  /**
   * `within`: starts runs, which count against the budget · `refused`: closed to tokens with a budget. By default, the
   * budget does not apply.
   */
  readonly budget?: 'within' | 'refused';
  /** Whether only administrators may call it, with tokens that are limited neither to projects nor to phones. */
  readonly administrators?: true;
}

const ofPhones: Record<PhoneReach, Record<'phones' | 'apps' | 'max_phones', LimitAnswer>> = {
  refused: { phones: 'refused', apps: 'refused', max_phones: 'refused' },
  none: { phones: 'open', apps: 'open', max_phones: 'open' },
  path: { phones: 'within', apps: 'within', max_phones: 'open' },
  body: { phones: 'within', apps: 'open', max_phones: 'open' },
  run: { phones: 'within', apps: 'open', max_phones: 'open' },
  query: { phones: 'within', apps: 'within', max_phones: 'within' },
  selector: { phones: 'within', apps: 'open', max_phones: 'open' },
  wall: { phones: 'within', apps: 'open', max_phones: 'open' },
  launch: { phones: 'within', apps: 'within', max_phones: 'within' },
  direct: { phones: 'within', apps: 'within', max_phones: 'open' },
  work: { phones: 'within', apps: 'within', max_phones: 'within' },
  kept: { phones: 'within', apps: 'within', max_phones: 'within' },
  calls: { phones: 'within', apps: 'within', max_phones: 'within' },
  own_token: { phones: 'within', apps: 'within', max_phones: 'within' },
};

/** Returns the decisions of an entry point about tokens with each limit. */
export const answersOf = ({ projects, phones, apps, budget }: Reach): Record<LimitKind, LimitAnswer> => {
  const answers = ofPhones[phones];
  return { ...answers, projects, apps: apps ?? answers.apps, budget: budget ?? 'open' };
};

/** Reach of requests that only administrators may make. */
export const ofAdministrators: Reach = { projects: 'refused', phones: 'refused', administrators: true };
