/**
 * Messages to and from a process that replays saved screens: frames as those of a run's process
 * (sandbox-messages.ts). Its parent checks every report, because the process runs user code and may have been
 * taken over.
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
/** Changes that the code made on the phone, in words and in order. */
const did = Type.Array(Type.String({ maxLength: maxVerdictWordsLength }), { maxItems: maxVerdictActs });

/** The code's next move after it had stored the screen. */
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
  /** The automation stored nothing, and waited in vain. */
  Type.Object({ kind: Type.Literal('waits'), message: text, did }),
  /** The automation stored nothing, and changed the phone again and again. */
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

/** How a run has ended, as far as a replay in order can see it. */
export const sequenceEnds = ['submits', 'throws', 'arrives', 'ends'] as const;
const SequenceEnd = Type.Enum(sequenceEnds);
/** Maximum number of calls on one screen in a result. */
export const maxSequenceCalls = 30;

/** State that the code gave one screen of a run, and its calls on it. */
export const SequenceMoment = Type.Object({
  stage,
  state: stage,
  /** In words, first things first; none where they are not known. */
  calls: Type.Array(Type.String({ maxLength: maxVerdictWordsLength }), { maxItems: maxSequenceCalls }),
  /** How the run has ended there; null: it went on, or nothing is known of it. */
  ends: Type.Union([SequenceEnd, Type.Null()]),
});
export type SequenceMoment = Static<typeof SequenceMoment>;

const index = Type.Integer({ minimum: 0 });

/** Whether the code does with the screens of a record in their order what the record tells; `index` of the screen where it does not. */
export const SequenceResult = Type.Union([
  Type.Object({ kind: Type.Literal('same'), screens: Type.Integer({ minimum: 1 }) }),
  /** `in`: what the code takes the screen for, what it does on it, or how the run ends there. */
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
  /** The automation waited in vain. */
  Type.Object({ kind: Type.Literal('waits'), index, message: text }),
  /** The run ended, and the record goes on. */
  Type.Object({ kind: Type.Literal('ended'), index, how: SequenceEnd }),
  /** The automation asked for something that saved screens can't answer. */
  Type.Object({ kind: Type.Literal('cannot'), index, message: text }),
  /** The automation took too much time or memory. */
  Type.Object({ kind: Type.Literal('limit'), index, message: text }),
]);
export type SequenceResult = Static<typeof SequenceResult>;

/** A search of the screen that found nothing. */
const MissedSearch = Type.Object({
  by: Type.Enum(['id', 'text', 'conditions']),
  wanted: Type.String({ maxLength: maxVerdictWordsLength }),
});
export type MissedSearch = Static<typeof MissedSearch>;

/** From the process that replays. */
export const ReplayReport = Type.Union([
  Type.Object({ type: Type.Literal('ready') }),
  /** `index` of the screen in its command. */
  Type.Object({
    type: Type.Literal('verdict'),
    index: Type.Integer({ minimum: 0 }),
    verdict: ReplayVerdict,
    missed: Type.Array(MissedSearch, { maxItems: maxMissedSearches }),
  }),
  Type.Object({ type: Type.Literal('sequence'), result: SequenceResult }),
  /** All screens of the command were shown; those without a verdict need a replay of their own. */
  Type.Object({ type: Type.Literal('shown') }),
]);
export type ReplayReport = Static<typeof ReplayReport>;

/** Answers for `fetch` in a replay, which has no network; a project writes them in `screens/fetch.json`. */
export const ReplayFetches = Type.Array(
  Type.Object(
    {
      method: Type.Optional(Type.String({ maxLength: 20 })),
      /** In full; each `*` stands for anything. */
      url: Type.String({ minLength: 1, maxLength: 4000 }),
      status: Type.Optional(Type.Integer({ minimum: 200, maximum: 599 })),
      /** A text as it is, anything else as its JSON. */
      body: Type.Optional(Type.Unknown()),
    },
    { additionalProperties: false },
  ),
  { maxItems: 200 },
);
export type ReplayFetches = Static<typeof ReplayFetches>;

/** One saved screen. */
export interface ReplayScreen {
  /** JSON of a `ScreenTree`. */
  treeJson: string;
  /** The stage that the code was trying to reach. */
  stage?: string | undefined;
}

/** The screens of one record, oldest first. */
export interface ReplaySequence {
  screens: readonly (ReplayScreen & {
    /** State that the run gave the screen. */
    state: string;
    /** Calls that the run made on it. */
    calls: readonly RecordedCall[];
  })[];
  /** How the run has ended after the last one; null: what comes then is not compared. */
  ends: 'submits' | 'throws' | null;
}

/** Limits of one try at a screen, or at a record in order, in milliseconds. */
export interface ReplayLimits {
  /** For the code to go on from one wait to the next. */
  entryMs: number;
  /** For all of it. */
  totalMs: number;
}

/** A second try has more: a machine that stands still for a moment must not look like a slow automation. */
export interface ReplayTries {
  first: ReplayLimits;
  second: ReplayLimits;
}

/** To the process that replays. */
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
       * `strict`: the code starts anew for each screen. `stream`: one run is shown a screen after the other, and not
       * every screen gets a verdict.
       */
      mode: 'strict' | 'stream';
      /** Whether searches that found nothing are told. */
      tellsMissed: boolean;
      screens: readonly ReplayScreen[];
    }
  | { type: 'sequence'; sequence: ReplaySequence };

/** A host's verdicts on the screens of a question `replay`, in their order; null: the time did not suffice. */
export const HostReplayAnswer = Type.Object({
  /** Result for a question with a `sequence`, which has no other screens. */
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

/** Describes for people where a replay of a record in order ended differently: one line, screens counted from 1. */
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
