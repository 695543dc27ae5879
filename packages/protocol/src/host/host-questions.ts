/**
 * Questions that the server asks a host, mostly about a phone: one row a question. The question is a message of
 * the server, with the phone's serial number; the answer is a binary frame of the host with the same type, or
 * `request_failed` with the reason.
 *
 * A question is added by a row here, its answer in `apps/host/src/phones/requests/answer-question.ts`, and the
 * endpoint that asks it.
 */
import { Type, type Static, type TObject, type TProperties } from 'typebox';
import { HostActSteps, HostNode, PhoneInput } from '../phones/act.ts';
import { AppLimit } from '../phones/app-limit.ts';
import { Id, Uuid } from '../ids.ts';
import { maxLivePictureBytes, maxVideoBytes, VideoPlace } from '../phones/live.ts';
import { SentFilePart } from '../phones/sent-file.ts';
import { maxRecordScreens, RecordedCall } from '../runs/records.ts';
import { ReplayFetches } from '../replay/replay-messages.ts';
import { JsonObject } from '../rest/contract.ts';
import { maxRecordedCalls } from '../runs/run-limits.ts';

interface HostQuestionRow {
  /** The first version of the host protocol with this question. Earlier hosts are not asked it. */
  readonly since: number;
  /** Fields of the question, besides the phone. */
  readonly asks: TProperties;
  /** Maximum size of the answer's payload. A longer one counts as no answer. */
  readonly maxAnswerBytes: number;
  /** Somebody uses the phone by hand: the question says who. */
  readonly isTouch?: true;
}

/** A user of a phone by hand. */
export const HostTouch = Type.Object({
  /** The service's ID of the phone, which `lease` counts for. */
  device_id: Id,
  /** How many leases of the phone have begun or ended until this touch was permitted. */
  lease: Type.Integer({ minimum: 0 }),
  /** Tells users apart, and says nothing of them. */
  by: Type.String({ maxLength: 100 }),
});
export type HostTouch = Static<typeof HostTouch>;

const megabyte = 1024 * 1024;

export const hostQuestions = {
  /** Answer: a JPEG. */
  screenshot: { since: 1, asks: {}, maxAnswerBytes: 8 * megabyte },
  /** Tree and picture of one moment. `width`: of the picture, at most. Answer: JSON of a `DeviceScreen`. */
  screen: {
    since: 2,
    asks: {
      width: Type.Union([Type.Integer(), Type.Null()]),
      /** False: the tree alone. Hosts before version 9 take the picture all the same. */
      picture: Type.Optional(Type.Boolean()),
    },
    maxAnswerBytes: 4 * megabyte,
  },
  /** How the phone is and what it went through. Answer: JSON of a `PhoneHealth`. */
  health: { since: 4, asks: {}, maxAnswerBytes: megabyte },
  /**
   * The next picture of a live view that is not the one with the hash `known`; after a second the known one again. Answer:
   * JSON of a `LiveFrame`, a line feed, and the JPEG; nothing after it when the picture is the known one.
   */
  live: {
    since: 5,
    asks: { known: Type.Union([Type.String(), Type.Null()]) },
    maxAnswerBytes: maxLivePictureBytes + 1024,
  },
  /**
   * The packets of a live view's video after that place, or from the last key frame on where there are none; after a quarter
   * of a second without one an empty list. Answer: JSON of a `HostVideo`, a line feed, and the packets.
   */
  video: {
    since: 9,
    asks: { after: Type.Union([VideoPlace, Type.Null()]) },
    maxAnswerBytes: maxVideoBytes + 64 * 1024,
  },
  /**
   * The same for a wall of phones, smaller and at most twice a second, and as soon as there is another one;
   * after two seconds the known one again. Callers that ask in the meantime get the same picture.
   */
  wall: {
    since: 9,
    asks: { known: Type.Union([Type.String(), Type.Null()]) },
    maxAnswerBytes: maxLivePictureBytes + 1024,
  },
  /**
   * Touch, type or start something. Answer: empty, when it was done; with `tell_window`, JSON of the `TouchedWindow` that the touch got to, or
   * of null where the phone does not tell.
   */
  input: {
    since: 4,
    asks: { input: PhoneInput, tell_window: Type.Optional(Type.Boolean()) },
    isTouch: true,
    maxAnswerBytes: 1024,
  },
  /** The text on the clipboard. Answer: JSON of a `PhoneClipboard`. */
  clipboard: { since: 9, asks: {}, isTouch: true, maxAnswerBytes: 4 * megabyte },
  /** Take a part of a file, and with the last one store or install it. Answer: JSON of a `SentFile`. */
  file: { since: 9, asks: { file: SentFilePart }, isTouch: true, maxAnswerBytes: 64 * 1024 },
  /**
   * Do steps that find their nodes on the screen as it is then, as far as the time reaches. Answer: JSON of a
   * `HostActAnswer`, a line feed, and JSON of a `DeviceScreen` without a picture.
   */
  act: {
    since: 9,
    asks: { steps: HostActSteps, budget_ms: Type.Integer({ minimum: 0, maximum: 10_000 }) },
    isTouch: true,
    maxAnswerBytes: 4 * megabyte,
  },
  /**
   * A lease of the phone has begun or ended: give up what waits of the one before, and forget what was remembered for it. Answer:
   * empty, at once.
   */
  lease: {
    since: 9,
    asks: { device_id: HostTouch.properties.device_id, lease: HostTouch.properties.lease },
    maxAnswerBytes: 1024,
  },
  /** Properties of a node, and how code finds it, on the screen as it is then. Answer: JSON of a `NodeInspection`. */
  node: { since: 9, asks: { node: HostNode }, maxAnswerBytes: megabyte },
  /** The apps that are installed. Answer: JSON of `PhoneApps`. */
  apps: { since: 8, asks: {}, maxAnswerBytes: megabyte },
  /**
   * Pair a phone; `serial` is empty. With a password, have the ADB server wait for a phone that scans a code
   * with both; without, report the progress. Answer: JSON of a `Pairing`, or of null for one that is not known.
   */
  pairing: {
    since: 9,
    asks: {
      name: Type.String({ pattern: '^[A-Za-z0-9-]{1,100}$' }),
      password: Type.Union([Type.String({ pattern: '^[A-Za-z0-9]{8,100}$' }), Type.Null()]),
    },
    maxAnswerBytes: 16 * 1024,
  },
  /**
   * Replay saved screens with a project's code, as far as the time reaches; `serial` is empty. Only hosts whose
   * `hello` has `replays` are asked. Answer: JSON of a `HostReplayAnswer`.
   */
  replay: {
    since: 9,
    asks: {
      code: Type.String(),
      source_map: Type.Union([Type.String(), Type.Null()]),
      /** `agent.arguments`. */
      parameters: JsonObject,
      job_variables: JsonObject,
      fetches: ReplayFetches,
      screens: Type.Array(
        Type.Object({ tree_json: Type.String(), stage: Type.Union([Type.String(), Type.Null()]) }),
        { maxItems: 100 },
      ),
      /** The screens of one record in their order, instead of others. */
      sequence: Type.Optional(
        Type.Object({
          screens: Type.Array(
            Type.Object({
              tree_json: Type.String(),
              stage: Type.String(),
              state: Type.String(),
              calls: Type.Array(RecordedCall, { maxItems: maxRecordedCalls }),
            }),
            { maxItems: maxRecordScreens, minItems: 1 },
          ),
          ends: Type.Union([Type.Enum(['submits', 'throws'] as const), Type.Null()]),
        }),
      ),
      budget_ms: Type.Integer({ minimum: 0, maximum: 10_000 }),
    },
    maxAnswerBytes: 4 * megabyte,
  },
} as const satisfies Record<string, HostQuestionRow>;

type Rows = typeof hostQuestions;
export type HostQuestionType = keyof Rows;
/** Questions that use a phone by hand. */
export type HostTouchType = {
  [Name in HostQuestionType]: Rows[Name] extends { isTouch: true } ? Name : never;
}[HostQuestionType];
export const isHostTouch = (type: HostQuestionType): type is HostTouchType =>
  'isTouch' in hostQuestions[type];

type Said<Asks extends TProperties> = Static<TObject<Asks>>;

/** The message of a question. */
export type HostQuestionOf<Name extends HostQuestionType> = {
  type: Name;
  request_id: string;
  serial: string;
  /** App limit of the token that asks. From version 9 on; earlier hosts are not asked with it. */
  app_limit?: AppLimit;
  /** Present in questions that touch the phone. From version 9 on. */
  touch?: HostTouch;
} & Said<Rows[Name]['asks']>;

type HostQuestion = { [Name in HostQuestionType]: HostQuestionOf<Name> }[HostQuestionType];
export const HostQuestion = Type.Unsafe<HostQuestion>(
  Type.Union(
    Object.entries(hostQuestions).map(([type, { asks }]) =>
      Type.Object({
        type: Type.Literal(type),
        request_id: Uuid,
        serial: Type.String(),
        app_limit: Type.Optional(AppLimit),
        touch: Type.Optional(HostTouch),
        ...asks,
      }),
    ),
  ),
);

export interface HostAnswerHeader {
  type: HostQuestionType;
  request_id: string;
}
export const HostAnswerHeader = Type.Unsafe<HostAnswerHeader>(
  Type.Union(
    Object.keys(hostQuestions).map((type) => Type.Object({ type: Type.Literal(type), request_id: Uuid })),
  ),
);
