import { calls, holds, openForm, openSettings, settings } from './calls';

const { utils } = agent;

async function recording(): Promise<void> {
  const screen = await openSettings();
  await calls<OutOfStepsUtils>('OutOfStepsUtils', {
    storeScreen: async () => {
      await utils.outOfSteps.storeScreen(screen, 'names', 'Settings', 3, ScreenshotRecord.HIGH_QUALITY);
      await utils.outOfSteps.storeScreen(screen, 'names', 'unknown', 2, ScreenshotRecord.NONE);
      return true;
    },
    submit: async () => {
      const sent = await utils.outOfSteps.submit('debug', 'names');
      return sent.success ? sent.id.length > 10 : sent.error;
    },
  });
  await calls<AgentUtils>('AgentUtils', {
    job: () => typeof utils.job.submitTask === 'function',
    outOfSteps: async () => {
      const refused = await utils.outOfSteps.submit('debug', 'x'.repeat(65));
      return refused.success ? refused.id : refused.error.length > 0;
    },
    debug: async () => {
      const { success, id, error } = await utils.debug('quick');
      return success ? id.length > 10 : error;
    },
  });
}

type State = 'home' | 'settings' | 'form';

async function staging(): Promise<void> {
  const steps: StageStep[] = [];
  const go: StageAction = (_, step) => {
    steps.push(step);
    return agent.actions.launchApp(settings);
  };
  const sign: ScreenSign = { packageName: settings };
  const stage: Stage<State> = {
    name: 'settings',
    reached: 'settings',
    on: { form: go, unknown: go },
    timeLimitMs: 60_000,
  };
  const dialog: UnexpectedDialog = { name: 'Never', when: 'no such text', do: go };
  const plan: StagePlan<State> = {
    states: { settings: sign, form: (screen) => screen.findById('name') },
    stages: [stage],
    dialogs: [dialog],
    maxSteps: 5,
    timeLimitMs: 60_000,
    pauseMs: 10,
    maxUnknownLooks: 3,
    screenshotRecord: ScreenshotRecord.NONE,
  };
  await openForm();
  const end = await runStages(plan);
  await holds('runStages', () => end.success || end.error);
  await calls<StagesEnd<State>>('StagesEnd', {
    stage: () => end.stage === 'settings',
    screenState: () => end.screenState === 'settings',
    remainingSteps: () => end.remainingSteps === 5 - end.usedSteps,
    usedSteps: () => end.usedSteps >= 1,
  });
  const [step] = steps;
  await calls<StageStep>('StageStep', {
    stage: () => step?.stage === 'settings',
    screenState: () => step?.screenState === 'form',
    remainingSteps: () => step?.remainingSteps === 5,
  });
  await calls<Stage<State>>('Stage', {
    name: () => end.stage === stage.name,
    reached: () => end.screenState === stage.reached,
    on: () => steps.length > 0,
    timeLimitMs: async () => {
      await agent.actions.home();
      const late = await runStages<State>({
        ...plan,
        stages: [{ ...stage, on: {}, timeLimitMs: 1 }],
        maxUnknownLooks: 50,
      });
      return late.success ? 'it was in time' : late.reason === 'timeout' && late.recordId !== null;
    },
  });
  await calls<UnexpectedDialog>('UnexpectedDialog', {
    name: () => dialog.name === 'Never',
    when: () => steps.every(({ screenState }) => screenState !== 'Never'),
    do: () => dialog.do === go,
  });
  await calls<StagePlan<State>>('StagePlan', {
    states: () => end.success,
    stages: () => end.success,
    dialogs: () => end.success,
    maxSteps: () => end.remainingSteps < 5,
    timeLimitMs: () => end.success,
    pauseMs: () => end.success,
    maxUnknownLooks: async () => {
      const lost = await runStages<State>({
        ...plan,
        states: {},
        stages: [{ ...stage, on: {} }],
        maxUnknownLooks: 1,
      });
      return lost.success ? 'it was found' : lost.reason === 'unknownScreen';
    },
    screenshotRecord: () => plan.screenshotRecord === ScreenshotRecord.NONE,
  });
}

export async function recordingAndStaging(): Promise<void> {
  await recording();
  await staging();
}
