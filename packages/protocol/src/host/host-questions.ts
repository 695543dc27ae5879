/**
 * Questions that the server asks a host, mostly about a phone. Each row is one question. The question is a message of
 * the server with the phone's serial number. The answer is a binary frame of the host with the same type, or
 * `request_failed` with the reason.
 *
 * To add a question, add a row here, its answer in `apps/host/src/phones/requests/answer-question.ts`, and the endpoint
 * that asks it.
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
  /** First version of the host protocol with this question. Earlier hosts do not get it. */
  readonly since: number;
  /** Fields of the question, in addition to the phone. */
  readonly asks: TProperties;
  /** Maximum size of the answer's payload, in bytes. A larger one counts as no answer. */
  readonly maxAnswerBytes: number;
  /** Set when a user controls the phone; the question then identifies the user. */
  readonly isTouch?: true;
}

/** User who controls a phone by hand. */
export const HostTouch = Type.Object({
  /** Service's ID of the phone, to which `lease` refers. */
  device_id: Id,
  /** Number of leases of the phone that have begun or ended before this touch was permitted. */
  lease: Type.Integer({ minimum: 0 }),
  /** Opaque value that distinguishes users. */
  by: Type.String({ maxLength: 100 }),
});
export type HostTouch = Static<typeof HostTouch>;

const megabyte = 1024 * 1024;

export const hostQuestions = {
  /** Takes a screenshot. Answer: a JPEG. */
  screenshot: { since: 1, asks: {}, maxAnswerBytes: 8 * megabyte },
  /**
   * Reads tree and picture of one moment. `width` is the maximum width of the picture. Answer: JSON of a
   * `DeviceScreen`.
   */
  screen: {
    since: 2,
    asks: {
      width: Type.Union([Type.Integer(), Type.Null()]),
      /** Whether to include the picture. Default true. Hosts before version 9 always take it. */
      picture: Type.Optional(Type.Boolean()),
    },
    maxAnswerBytes: 4 * megabyte,
  },
  /** Reads health and history of the phone. Answer: JSON of a `PhoneHealth`. */
  health: { since: 4, asks: {}, maxAnswerBytes: megabyte },
  /**
   * Returns the next picture of a live view whose hash differs from `known`; after one second, the known one again.
   * Answer: JSON of a `LiveFrame`, a line feed, and the JPEG, which is omitted when the picture is the known one.
   */
  live: {
    since: 5,
    asks: { known: Type.Union([Type.String(), Type.Null()]) },
    maxAnswerBytes: maxLivePictureBytes + 1024,
  },
  /**
   * Returns the packets of a live view's video after the given place, or from the last key frame on when these packets
   * are gone. Without new packets, the list is empty after a quarter of a second. Answer: JSON of a `HostVideo`, a line
   * feed, and the packets.
   */
  video: {
    since: 9,
    asks: { after: Type.Union([VideoPlace, Type.Null()]) },
    maxAnswerBytes: maxVideoBytes + 64 * 1024,
  },
  /**
   * Returns the next picture for a wall of phones: smaller than that of a live view, at most twice per second, and as
   * soon as it changes; after two seconds, the known one again. Callers that ask meanwhile get the same picture.
   */
  wall: {
    since: 9,
    asks: { known: Type.Union([Type.String(), Type.Null()]) },
    maxAnswerBytes: maxLivePictureBytes + 1024,
  },
  /**
   * Touches, types or starts something. Answer: empty once done; with `tell_window`, the JSON of the `TouchedWindow`
   * that received the touch, or of null when the phone does not report it. With `settle`, the answer waits until the
   * screen is at rest, for at most three seconds.
   */
  input: {
    since: 4,
    asks: {
      input: PhoneInput,
      tell_window: Type.Optional(Type.Boolean()),
      settle: Type.Optional(Type.Boolean()),
    },
    isTouch: true,
    maxAnswerBytes: 1024,
  },
  /** Reads the text on the clipboard. Answer: JSON of a `PhoneClipboard`. */
  clipboard: { since: 9, asks: {}, isTouch: true, maxAnswerBytes: 4 * megabyte },
  /** Takes a part of a file; with the last part, stores or installs it. Answer: JSON of a `SentFile`. */
  file: { since: 9, asks: { file: SentFilePart }, isTouch: true, maxAnswerBytes: 64 * 1024 },
  /**
   * Executes steps that find their nodes on the screen of that moment, as far as the time allows. Answer: JSON of a
   * `HostActAnswer`, a line feed, and JSON of a `DeviceScreen` without a picture.
   */
  act: {
    since: 9,
    asks: { steps: HostActSteps, budget_ms: Type.Integer({ minimum: 0, maximum: 10_000 }) },
    isTouch: true,
    maxAnswerBytes: 4 * megabyte,
  },
  /**
   * Reports that a lease of the phone has begun or ended. The host drops waiting inputs of the previous lease and
   * forgets what it has remembered for it. Answer: empty, at once.
   */
  lease: {
    since: 9,
    asks: { device_id: HostTouch.properties.device_id, lease: HostTouch.properties.lease },
    maxAnswerBytes: 1024,
  },
  /**
   * Reads the properties of a node on the screen of that moment, and the code that finds it. Answer: JSON of a
   * `NodeInspection`.
   */
  node: { since: 9, asks: { node: HostNode }, maxAnswerBytes: megabyte },
  /** Lists the installed apps. Answer: JSON of `PhoneApps`. */
  apps: { since: 8, asks: {}, maxAnswerBytes: megabyte },
  /**
   * Pairs a phone; `serial` is empty. With a password, the ADB server waits for a phone that scans a code with both;
   * without one, the question reads the progress. Answer: JSON of a `Pairing`, or of null for an unknown one.
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
   * Replays saved screens with a project's code, as far as the time allows; `serial` is empty. Only hosts with
   * `replays` in their `hello` are asked. Answer: JSON of a `HostReplayAnswer`.
   */
  replay: {
    since: 9,
    asks: {
      code: Type.String(),
      source_map: Type.Union([Type.String(), Type.Null()]),
      /** Values of `agent.arguments`. */
      parameters: JsonObject,
      job_variables: JsonObject,
      fetches: ReplayFetches,
      screens: Type.Array(
        Type.Object({ tree_json: Type.String(), stage: Type.Union([Type.String(), Type.Null()]) }),
        { maxItems: 100 },
      ),
      /** Screens of one record in order; replaces `screens`. */
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
/** Questions that control a phone by hand. */
export type HostTouchType = {
  [Name in HostQuestionType]: Rows[Name] extends { isTouch: true } ? Name : never;
}[HostQuestionType];
export const isHostTouch = (type: HostQuestionType): type is HostTouchType =>
  'isTouch' in hostQuestions[type];

type Said<Asks extends TProperties> = Static<TObject<Asks>>;

/** Message of a question. */
export type HostQuestionOf<Name extends HostQuestionType> = {
  type: Name;
  request_id: string;
  serial: string;
  /** App limit of the asking token. From version 9 on; earlier hosts do not get questions with it. */
  app_limit?: AppLimit;
  /** User of a question that touches the phone. From version 9 on. */
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
