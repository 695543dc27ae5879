import { testOf } from './screen-sign.ts';

/** What a screen is taken for. */
export interface Recognised {
  /** As records name it: a state, `unknown`, or a dialog. */
  name: string;
  /** The state as the plan names it; undefined for dialogs. */
  state: string | undefined;
  isUnknown: boolean;
  dialog: UnexpectedDialog | undefined;
}

const unknownState = 'unknown';

/** Tells the state of a screen by a plan: dialogs first, because they cover what is below them. */
export function createRecogniser(
  plan: Pick<StagePlan<string>, 'states' | 'dialogs'>,
): (screen: AndroidNode) => Recognised {
  const dialogs = (plan.dialogs ?? []).map((dialog) => ({ dialog, test: testOf(dialog.when) }));
  const detect = typeof plan.states === 'function' ? plan.states : detectorOf(plan.states);
  return (screen) => {
    const dialog = dialogs.find(({ test }) => test(screen))?.dialog;
    if (dialog !== undefined) return { name: dialog.name, state: undefined, isUnknown: false, dialog };
    const state = String(detect(screen));
    const isUnknown = state.toLowerCase() === unknownState;
    return { name: isUnknown ? unknownState : state, state, isUnknown, dialog };
  };
}

function detectorOf(states: {
  readonly [name: string]: ScreenSign | undefined;
}): (screen: AndroidNode) => string {
  const tests = Object.entries(states).flatMap(([name, sign]) =>
    sign === undefined ? [] : [{ name, test: testOf(sign) }],
  );
  return (screen) => tests.find(({ test }) => test(screen))?.name ?? unknownState;
}
