/** Kinds of limits of a token, beside its scopes. */
export const limitKinds = ['projects', 'phones', 'apps', 'max_phones', 'budget'] as const;
export type LimitKind = (typeof limitKinds)[number];

/**
 * Answer of a door to a token of such a limit. `refused`: it is closed (`forbidden`) · `within`: it reaches what the
 * limit allows, and nothing else · `open`: the limit says nothing about it.
 */
export type LimitAnswer = 'refused' | 'within' | 'open';

/**
 * The way in which a request names the phones that it reaches, by which a token that is limited to phones is judged. `refused`: it reaches
 * phones in a way that no such token may · `none`: it reaches no phone · `path`, `body`: the phone of its path or of its body ·
 * `run`: that of the run of its path · `query`: the phone whose runs it lists · `selector`: the phones of its selector, which is
 * narrowed · `wall`: the same, and each phone again in every turn · `launch`: those that a launch names or selects · `direct`: that
 * of direct code · `work`: those of a job or a schedule, whose tasks ask again · `kept`: jobs and schedules that keep the same limit ·
 * `calls`: it calls endpoints, each of which asks again · `own_token`: it is about the token itself.
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

/** Description of what a request reaches, by which limited tokens are judged at every door of the service. */
export interface Reach {
  readonly projects: LimitAnswer;
  readonly phones: PhoneReach;
  /** `refused`: closed to tokens that are limited to apps; by default they reach the phones that they may, and their apps there. */
  readonly apps?: 'refused';
  /** `within`: it begins runs, which count · `refused`: closed to tokens with a budget. By default the budget says nothing about it. */
  readonly budget?: 'within' | 'refused';
  /** True: for administrators, with tokens that are limited to neither projects nor phones. */
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

/** Answers of a door to tokens of each limit. */
export const answersOf = ({ projects, phones, apps, budget }: Reach): Record<LimitKind, LimitAnswer> => {
  const answers = ofPhones[phones];
  return { ...answers, projects, apps: apps ?? answers.apps, budget: budget ?? 'open' };
};

/** Reach of requests of administrators alone. */
export const ofAdministrators: Reach = { projects: 'refused', phones: 'refused', administrators: true };
