import { createRecogniser, type Recognised } from './recognise.ts';
import { createStageStory, type StoryLine } from './stage-story.ts';
import { createItinerary, type Itinerary } from './itinerary.ts';

/** What the runner stands on. */
export interface StageParts {
  readScreen: () => Promise<AndroidNode>;
  outOfSteps: OutOfStepsUtils;
  /** The last stage is reached, so the run has not ended out of steps. */
  tellArrived: () => Promise<void>;
  sleep: (durationMs: number) => Promise<void>;
  /** Calls back without keeping the run alive. */
  later: (callback: () => void, delayMs: number) => void;
  /** Milliseconds that never go backwards. */
  now: () => number;
}

type Plan = StagePlan<string>;
type Failure = Extract<StagesResult<string>, { success: false }>;

/** One reading of the screen. */
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
        await parts.tellArrived();
        return { success: true, ...noFailure, ...endAt(look) };
      }
      const reason = reasonToGiveUp(look);
      if (reason !== undefined) return giveUp(look, reason);
      await takeStep(look);
      await parts.sleep(pauseMs);
    }
  }

  /** Reads and stores the screen under the stage that is to be reached from there. */
  async function lookNow(remainingSteps: number): Promise<Look> {
    const screen = await parts.readScreen();
    const seen = recognise(screen);
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
