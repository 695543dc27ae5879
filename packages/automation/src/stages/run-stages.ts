import type { StepAim, StepEnd } from '@phalanx/protocol';

import { said } from '../agent/trace/aim-of-call.ts';
import type { RunStep } from '../agent/trace/run-step.ts';
import { messageOf } from '../agent/trace/steps.ts';
import { testOf } from './screen-sign.ts';

/** Maximum number of lines in a report, which keeps the last ones. */
const maxLines = 15;

interface StoryLine {
  stage: string;
  screenState: string;
  did: 'acted' | 'waited' | 'gave up';
}

/** Recognized state or dialog of a screen. */
interface Recognised {
  /** Name in records: a state, `unknown`, or a dialog. */
  name: string;
  /** State as named by the plan; undefined for dialogs. */
  state: string | undefined;
  isUnknown: boolean;
  dialog: UnexpectedDialog | undefined;
}

const unknownState = 'unknown';

/** Functions that the stage runner needs. */
export interface StageParts {
  readScreen: () => Promise<AndroidNode>;
  outOfSteps: OutOfStepsUtils;
  /** Reports that the last stage was reached, so that the run does not count as out of steps. */
  reportArrival: () => Promise<void>;
  sleep: (durationMs: number) => Promise<void>;
  /** Schedules a callback without keeping the run alive. */
  later: (callback: () => void, delayMs: number) => void;
  /** Monotonic time in ms. */
  now: () => number;
  /**
   * Returns the stage of the screen if something other than the run's progress determines it; empty for the first
   * stage, null if progress decides.
   */
  findStage?: () => string | null;
  /** Reports the work on a screen as one step of the run. */
  runStep: RunStep;
}

type Plan = StagePlan<string>;
type Failure = Extract<StagesResult<string>, { success: false }>;

/** Result of one reading of the screen. */
interface Look {
  screen: AndroidNode;
  seen: Recognised;
  stage: Stage<string>;
  remainingSteps: number;
}

const noFailure = { reason: null, error: null, recordId: null };
const defaultMaxSteps = 50;
const defaultPauseMs = 500;
const defaultUnknownLooks = 10;

export function createRunStages(parts: StageParts): typeof runStages {
  return async <State extends string>(plan: StagePlan<State>) => {
    return createRunner(parts, plan).run();
  };
}

function createRunner(parts: StageParts, plan: Plan) {
  const maxSteps = wholeNumber('maxSteps', plan.maxSteps ?? defaultMaxSteps);
  const maxUnknownLooks = wholeNumber('maxUnknownLooks', plan.maxUnknownLooks ?? defaultUnknownLooks);
  const { pauseMs = defaultPauseMs, screenshotRecord = 'low_quality' } = plan;
  const recognise = createRecogniser(plan);
  const itinerary = createItinerary(plan, parts);
  const story = createStageStory(parts.now);
  let unknownLooks = 0;

  async function run(): Promise<StagesResult<string>> {
    for (let remainingSteps = maxSteps; ; remainingSteps -= 1) {
      const look = await lookNow(remainingSteps);
      if (itinerary.isDone()) {
        await parts.reportArrival();
        return { success: true, ...noFailure, ...endAt(look) };
      }
      const reason = reasonToGiveUp(look);
      const aim = (): StepAim => said(`"${look.stage.name}" · ${look.seen.name}`);
      const step = { name: 'runStages', aim };
      if (reason !== undefined)
        return parts.runStep({ ...step, work: () => giveUp(look, reason), endOf: failureIn });
      await parts.runStep({ ...step, work: () => takeStep(look) });
      await parts.sleep(pauseMs);
    }
  }

  /** Reads the screen and stores it under the next stage. */
  async function lookNow(remainingSteps: number): Promise<Look> {
    const screen = await parts.readScreen();
    const seen = recognise(screen);
    const place = parts.findStage?.() ?? null;
    if (place !== null) itinerary.goTo(place);
    itinerary.arrive(seen.state);
    unknownLooks = seen.isUnknown ? unknownLooks + 1 : 0;
    const stage = itinerary.stage();
    await parts.outOfSteps.storeScreen(screen, stage.name, seen.name, remainingSteps, screenshotRecord);
    return { screen, seen, stage, remainingSteps };
  }

  function reasonToGiveUp({ seen, stage, remainingSteps }: Look): Failure['reason'] | undefined {
    if (itinerary.isLate()) return 'timeout';
    if (remainingSteps === 0) return 'outOfSteps';
    const isWaitedOut = actionFor(stage, seen) === undefined && unknownLooks > maxUnknownLooks;
    return isWaitedOut ? 'unknownScreen' : undefined;
  }

  async function takeStep({ screen, seen, stage, remainingSteps }: Look): Promise<void> {
    const action = actionFor(stage, seen);
    note({ seen, stage }, action === undefined ? 'waited' : 'acted');
    const step = { stage: stage.name, screenState: seen.name, remainingSteps };
    if (action !== undefined) await itinerary.withinTime(async () => action(screen, step));
  }

  async function giveUp(look: Look, reason: Failure['reason']): Promise<Failure> {
    note(look, 'gave up');
    const submitted = await parts.outOfSteps.submit(reason === 'timeout' ? 'timeout' : 'outOfSteps');
    const lines = [sentenceFor(reason, look, itinerary), story.text()];
    if (!submitted.success) lines.push(`There is no record of it: ${submitted.error}`);
    const recordId = submitted.success ? submitted.id : null;
    return { success: false, reason, error: lines.join('\n'), recordId, ...endAt(look) };
  }

  function note({ seen, stage }: Pick<Look, 'seen' | 'stage'>, did: StoryLine['did']): void {
    story.add({ stage: stage.name, screenState: seen.name, did });
  }

  function endAt({ seen, stage, remainingSteps }: Look): StagesEnd<string> {
    const usedSteps = maxSteps - remainingSteps;
    return { stage: stage.name, screenState: seen.name, remainingSteps, usedSteps };
  }

  return { run };
}

/** Outcomes by the reasons of failures. */
const outcomes = {
  outOfSteps: 'out_of_steps',
  timeout: 'timed_out',
  unknownScreen: 'unknown_screen',
} as const;

const failureIn = ({ reason, error }: Failure): Partial<StepEnd> => ({
  outcome: outcomes[reason],
  message: messageOf(error),
});

function actionFor({ on }: Stage<string>, { dialog, state, isUnknown }: Recognised): StageAction | undefined {
  if (dialog !== undefined) return dialog.do;
  return ownAction(on, state ?? '') ?? (isUnknown ? on['unknown'] : undefined);
}

function ownAction(on: Stage<string>['on'], state: string): StageAction | undefined {
  return Object.hasOwn(on, state) ? on[state] : undefined;
}

function sentenceFor(
  reason: Failure['reason'],
  { stage, remainingSteps }: Look,
  { limitMs }: Itinerary,
): string {
  const goal = `"${stage.name}"`;
  if (reason === 'timeout') return `The stage ${goal} was not reached within ${limitMs() / 1000} s:`;
  if (reason === 'outOfSteps') return `The steps ran out on the way to ${goal}:`;
  return `An unknown screen did not go away on the way to ${goal}, with ${remainingSteps} steps left:`;
}

function wholeNumber(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new TypeError(`${name} must be a whole number from 0, but it is ${String(value)}.`);
}

/** Creates the recognizer of a plan's states. Dialogs are tested first, because they cover the content below them. */
function createRecogniser(
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

/** Records the steps; consecutive equal ones become one line. */
function createStageStory(now: () => number) {
  const beganAt = now();
  const lines: (StoryLine & { afterMs: number; times: number })[] = [];
  return {
    add(line: StoryLine): void {
      const last = lines.at(-1);
      const isSame =
        last?.stage === line.stage && last.screenState === line.screenState && last.did === line.did;
      if (last !== undefined && isSame) last.times += 1;
      else lines.push({ ...line, afterMs: now() - beganAt, times: 1 });
      if (lines.length > maxLines) lines.shift();
    },
    text: (): string =>
      lines
        .map(({ stage, screenState, did, afterMs, times }) => {
          const often = times > 1 ? ` ${times} times` : '';
          return `  after ${(afterMs / 1000).toFixed(1)} s, on the way to "${stage}": ${screenState}, ${did}${often}`;
        })
        .join('\n'),
  };
}

type ItineraryPlan = Pick<StagePlan<string>, 'stages' | 'timeLimitMs'>;

interface Clock {
  now: () => number;
  later: (callback: () => void, delayMs: number) => void;
}

const defaultTimeLimitMs = 300_000;

/** Next stage and the time spent on it. */
interface Itinerary {
  /** Returns the next stage; the last one when all are reached. */
  stage: () => Stage<string>;
  isDone: () => boolean;
  /** Advances to the first stage that this state does not reach. */
  arrive(state: string | undefined): void;
  /** Moves to the stage of that name, or to the first one if there is none. */
  goTo(name: string): void;
  limitMs: () => number;
  isLate: () => boolean;
  /**
   * Resolves when the work is done, or when the stage's time is over, which abandons the work. Rejects with the
   * work's error.
   */
  withinTime(work: () => Promise<unknown>): Promise<void>;
}

/** Throws TypeError for a plan without stages. */
function createItinerary(
  { stages, timeLimitMs = defaultTimeLimitMs }: ItineraryPlan,
  clock: Clock,
): Itinerary {
  const last = stages.at(-1);
  if (last === undefined) throw new TypeError('A plan needs at least one stage.');
  let reached = 0;
  const stage = (): Stage<string> => stages[reached] ?? last;
  const limitMs = (): number => stage().timeLimitMs ?? timeLimitMs;
  let time = startTime(limitMs(), clock);
  const isDone = (): boolean => reached >= stages.length;

  return {
    stage,
    isDone,
    arrive(state) {
      if (state === undefined) return;
      while (!isDone() && isReached(stage(), state)) {
        reached += 1;
        time = startTime(limitMs(), clock);
      }
    },
    goTo(name) {
      reached = Math.max(
        0,
        stages.findIndex((one) => one.name === name),
      );
      time = startTime(limitMs(), clock);
    },
    limitMs,
    isLate: () => time.isOver(),
    withinTime: (work) => Promise.race([work().then(() => undefined), time.over]),
  };
}

function startTime(limitMs: number, { now, later }: Clock): { isOver: () => boolean; over: Promise<void> } {
  const endsAt = now() + limitMs;
  const over = new Promise<void>((resolve) => later(resolve, limitMs));
  return { isOver: () => now() >= endsAt, over };
}

function isReached({ reached }: Stage<string>, state: string): boolean {
  return typeof reached === 'string' ? reached === state : reached.includes(state);
}
