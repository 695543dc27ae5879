type Plan = Pick<StagePlan<string>, 'stages' | 'timeLimitMs'>;

interface Clock {
  now: () => number;
  later: (callback: () => void, delayMs: number) => void;
}

const defaultTimeLimitMs = 300_000;

/** Which stage is to be reached, and how long that has taken. */
export interface Itinerary {
  /** The stage that is to be reached; the last one when all are. */
  stage: () => Stage<string>;
  isDone: () => boolean;
  /** Goes on to the first stage that is not reached in this state. */
  arrive(state: string | undefined): void;
  /** Stands at the stage of that name from now on; at the first one when there is none. */
  goTo(name: string): void;
  limitMs: () => number;
  isLate: () => boolean;
  /** Resolves when the work is done, or when the stage's time is over and the work is left behind. Rejects as the work does. */
  withinTime(work: () => Promise<unknown>): Promise<void>;
}

/** Throws TypeError for a plan without stages. */
export function createItinerary({ stages, timeLimitMs = defaultTimeLimitMs }: Plan, clock: Clock): Itinerary {
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
