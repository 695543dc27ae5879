/**
 * Messages to and from a process that replays saved screens. They use the frames of a run's process
 * (sandbox-messages.ts). The parent process validates every report, because the process runs user code and may be
 * compromised.
 */
import { Type, type Static } from 'typebox';

import type { RecordedCall } from '../runs/records.ts';
import {
  maxSourcePathLength,
  maxStageLength,
  maxVerdictTextLength,
  maxVerdictActs,
  maxMissedSearches,
  maxVerdictWordsLength,
} from '../runs/run-limits.ts';

const text = Type.String({ maxLength: maxVerdictTextLength });
const stage = Type.String({ maxLength: maxStageLength });
/** Changes that the code has made on the phone, in words and in order. */
const did = Type.Array(Type.String({ maxLength: maxVerdictWordsLength }), { maxItems: maxVerdictActs });

/** Next move of the code after it has stored the screen. */
export const replayFollowUps = ['acts', 'arrives', 'waits', 'gives_up', 'ends', 'throws'] as const;

/** Verdict of the project's code on a saved screen. */
export const ReplayVerdict = Type.Union([
  /** The automation stored the screen under this state. */
  Type.Object({
    kind: Type.Literal('state'),
    state: stage,
    stage,
    next: Type.Enum(replayFollowUps),
    did,
    /** Message of the error when `next` is `throws`. */
    message: Type.Union([text, Type.Null()]),
  }),
  /** The automation stored no screen, and a wait timed out. */
  Type.Object({ kind: Type.Literal('waits'), message: text, did }),
  /** The automation stored no screen, and changed the phone again and again. */
  Type.Object({ kind: Type.Literal('acts_blind'), did }),
  Type.Object({
    kind: Type.Literal('threw'),
    message: text,
    stack: Type.Union([text, Type.Null()]),
    path: Type.Union([Type.String({ maxLength: maxSourcePathLength }), Type.Null()]),
    line: Type.Integer({ minimum: 0 }),
  }),
  /** The automation ended without storing the screen. */
  Type.Object({ kind: Type.Literal('ended'), did }),
  /** The automation asked for something that a saved screen can't answer. */
  Type.Object({ kind: Type.Literal('cannot'), message: text }),
  /** The automation took too much time or memory. */
  Type.Object({ kind: Type.Literal('limit'), message: text }),
]);
export type ReplayVerdict = Static<typeof ReplayVerdict>;

/** Ends of a run that a replay in order can distinguish. */
export const sequenceEnds = ['submits', 'throws', 'arrives', 'ends'] as const;
const SequenceEnd = Type.Enum(sequenceEnds);
/** Maximum number of calls on one screen in a result. */
export const maxSequenceCalls = 30;

/** State that the code gave one screen of a run, and its calls on that screen. */
export const SequenceMoment = Type.Object({
  stage,
  state: stage,
  /** Calls in words and in order; empty when unknown. */
  calls: Type.Array(Type.String({ maxLength: maxVerdictWordsLength }), { maxItems: maxSequenceCalls }),
  /** End of the run at this screen; null when the run continued, or when its end is unknown. */
  ends: Type.Union([SequenceEnd, Type.Null()]),
});
export type SequenceMoment = Static<typeof SequenceMoment>;

const index = Type.Integer({ minimum: 0 });

/**
 * Result of replaying a record's screens in order: whether the code acts as recorded, else the `index` of the screen
 * where it does not.
 */
export const SequenceResult = Type.Union([
  Type.Object({ kind: Type.Literal('same'), screens: Type.Integer({ minimum: 1 }) }),
  /**
   * Difference at a screen. `in` is the state that the code gives the screen, its calls on it, or the end of the run
   * there.
   */
  Type.Object({
    kind: Type.Literal('diverges'),
    index,
    in: Type.Enum(['screen', 'calls', 'end'] as const),
    saved: SequenceMoment,
    now: SequenceMoment,
  }),
  Type.Object({
    kind: Type.Literal('threw'),
    index,
    message: text,
    path: Type.Union([Type.String({ maxLength: maxSourcePathLength }), Type.Null()]),
    line: Type.Integer({ minimum: 0 }),
  }),
  /** A wait of the automation timed out. */
  Type.Object({ kind: Type.Literal('waits'), index, message: text }),
  /** The run ended although the record continues. */
  Type.Object({ kind: Type.Literal('ended'), index, how: SequenceEnd }),
  /** The automation asked for something that saved screens can't answer. */
  Type.Object({ kind: Type.Literal('cannot'), index, message: text }),
  /** The automation took too much time or memory. */
  Type.Object({ kind: Type.Literal('limit'), index, message: text }),
]);
export type SequenceResult = Static<typeof SequenceResult>;

/** Search of the screen without a match. */
const MissedSearch = Type.Object({
  by: Type.Enum(['id', 'text', 'conditions']),
  wanted: Type.String({ maxLength: maxVerdictWordsLength }),
});
export type MissedSearch = Static<typeof MissedSearch>;

/** Reports from the process that replays. */
export const ReplayReport = Type.Union([
  Type.Object({ type: Type.Literal('ready') }),
  /** Verdict on one screen; `index` is the screen's position in the command. */
  Type.Object({
    type: Type.Literal('verdict'),
    index: Type.Integer({ minimum: 0 }),
    verdict: ReplayVerdict,
    missed: Type.Array(MissedSearch, { maxItems: maxMissedSearches }),
  }),
  Type.Object({ type: Type.Literal('sequence'), result: SequenceResult }),
  /** All screens of the command were shown. Screens without a verdict need a separate replay. */
  Type.Object({ type: Type.Literal('shown') }),
]);
export type ReplayReport = Static<typeof ReplayReport>;

/** Answers for `fetch` in a replay, which has no network. A project stores them in `screens/fetch.json`. */
export const ReplayFetches = Type.Array(
  Type.Object(
    {
      method: Type.Optional(Type.String({ maxLength: 20 })),
      /** Full URL; each `*` matches any text. */
      url: Type.String({ minLength: 1, maxLength: 4000 }),
      status: Type.Optional(Type.Integer({ minimum: 200, maximum: 599 })),
      /** Body of the answer: a text is sent unchanged, any other value as JSON. */
      body: Type.Optional(Type.Unknown()),
    },
    { additionalProperties: false },
  ),
  { maxItems: 200 },
);
export type ReplayFetches = Static<typeof ReplayFetches>;

/** Saved screen to replay. */
export interface ReplayScreen {
  /** JSON of a `ScreenTree`. */
  treeJson: string;
  /** Stage that the code was trying to reach. */
  stage?: string | undefined;
}

/** Screens of one record, oldest first. */
export interface ReplaySequence {
  screens: readonly (ReplayScreen & {
    /** State that the run gave the screen. */
    state: string;
    /** Calls that the run made on the screen. */
    calls: readonly RecordedCall[];
  })[];
  /** End of the run after the last screen; null when the end is not compared. */
  ends: 'submits' | 'throws' | null;
}

/** Limits of one attempt at a screen, or at a record in order, in milliseconds. */
export interface ReplayLimits {
  /** Time for the code to get from one wait to the next. */
  entryMs: number;
  /** Time for the whole attempt. */
  totalMs: number;
}

/**
 * Limits of both attempts. The second one gets more time, so that a briefly suspended machine does not look like a slow
 * automation.
 */
export interface ReplayTries {
  first: ReplayLimits;
  second: ReplayLimits;
}

/** Commands to the process that replays. */
export type ReplayCommand =
  | {
      type: 'code';
      /** Bundled code, as in a run's job. */
      code: string;
      sourceMap: string | null;
      argumentsJson: string;
      fetches: ReplayFetches;
      limits: {
        screen: ReplayTries;
        sequence: ReplayTries;
      };
    }
  | {
      type: 'screens';
      /**
       * Mode of the replay. `strict`: the code starts again for each screen. `stream`: one run is shown the screens one
       * after another, and some screens get no verdict.
       */
      mode: 'strict' | 'stream';
      /** Whether searches without a match are reported. */
      tellsMissed: boolean;
      screens: readonly ReplayScreen[];
    }
  | { type: 'sequence'; sequence: ReplaySequence };

/**
 * Verdicts of a host on the screens of a `replay` question, in order. Null for screens that exceeded the time budget.
 */
export const HostReplayAnswer = Type.Object({
  /** Result of a question with a `sequence`, which contains no other screens. */
  sequence: Type.Optional(Type.Union([SequenceResult, Type.Null()])),
  verdicts: Type.Array(Type.Union([ReplayVerdict, Type.Null()]), { maxItems: 100 }),
});
export type HostReplayAnswer = Static<typeof HostReplayAnswer>;

/** Describes a verdict for people: `Cart, acts; tap "Pay"`. */
export function describeVerdict(verdict: ReplayVerdict): string {
  if (verdict.kind === 'state') return [`${verdict.state}, ${verdict.next}`, ...verdict.did].join('; ');
  if (verdict.kind === 'threw' && verdict.path !== null)
    return `${verdict.message} (${verdict.path}:${verdict.line})`;
  if ('message' in verdict) return verdict.message;
  return verdict.kind === 'ended' ? 'the code ends and stores nothing' : 'the code acts and stores nothing';
}

/** Describes for people where the replay of a record in order differs: one line, with screens counted from 1. */
export function describeSequence(result: SequenceResult): string {
  if (result.kind === 'same') return `all ${result.screens} screens as the record tells`;
  const place = `screen ${result.index + 1}: `;
  if (result.kind === 'diverges')
    return `${place}${momentText(result.saved, result.in)} → ${momentText(result.now, result.in)}`;
  if (result.kind === 'ended') return `${place}the run ${endWords[result.how]} here, and the record goes on`;
  if (result.kind === 'threw' && result.path !== null)
    return `${place}threw ${result.message} (${result.path}:${result.line})`;
  return `${place}${sequenceWords[result.kind]} ${result.message}`;
}

const sequenceWords = {
  threw: 'threw',
  waits: 'waits in vain:',
  cannot: 'can’t be replayed:',
  limit: 'the code',
} as const;

const endWords = {
  submits: 'gives up',
  throws: 'throws',
  arrives: 'has arrived',
  ends: 'ends',
} as const;

function momentText(
  { stage: wanted, state, calls, ends }: SequenceMoment,
  what: 'screen' | 'calls' | 'end',
): string {
  if (what === 'screen') return wanted === '' ? state : `${state} on the way to ${JSON.stringify(wanted)}`;
  const done = calls.length === 0 ? 'nothing' : calls.join('; ');
  if (what === 'calls') return `${state}, ${done}`;
  return ends === null ? `goes on with ${done}` : endWords[ends];
}
