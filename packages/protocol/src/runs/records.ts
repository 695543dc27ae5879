import { Type, type Static } from 'typebox';

import { EpochMs, Uuid } from '../ids.ts';
import { RunError } from './runs.ts';
import { maxStageLength, maxRecordedCalls } from './run-limits.ts';

export const recordTypes = ['outOfSteps', 'timeout', 'debug', 'crash'] as const;
export const RecordType = Type.Enum(recordTypes, { title: 'RecordType' });
export type RecordType = Static<typeof RecordType>;

/** A record is pending until it is marked, once. */
export const recordStatuses = ['pending', 'solved', 'skipped'] as const;
export const RecordStatus = Type.Enum(recordStatuses, { title: 'RecordStatus' });
export type RecordStatus = Static<typeof RecordStatus>;

/** The tag of records that were given none. */
export const defaultTag = 'default';
export const Tag = Type.String({ minLength: 1, maxLength: 64 });

/** Number of `debug` records kept per automation and tag; also the number that a run may submit at once. */
export const keptDebugRecords = 200;

/** The last screens of a run that are kept for a record. */
export const maxRecordScreens = 50;

/** A capture of a screen: its accessibility tree (JSON) or its picture (JPEG). */
export const captureKinds = ['tree', 'screenshot'] as const;
export const CaptureKind = Type.Enum(captureKinds);
export type CaptureKind = Static<typeof CaptureKind>;

/** Larger captures are refused. */
export const maxCaptureBytes = 16 * 1024 * 1024;

const stage = Type.String({ maxLength: maxStageLength });
const side = Type.Integer({ minimum: 0, maximum: 100_000 });

const point = Type.Integer({ minimum: -100_000, maximum: 100_000 });

/** A call that may change the phone, without what was typed. Nothing is said of calls on masked nodes and password fields. */
export const RecordedCall = Type.Object(
  {
    /** Name of the agent call, such as `input.tap`. */
    name: Type.String({ maxLength: 60 }),
    /** Start of a touch, in pixels of the tree. */
    x: Type.Optional(point),
    y: Type.Optional(point),
    /** End of a swipe, in pixels of the tree. */
    to_x: Type.Optional(point),
    to_y: Type.Optional(point),
    key: Type.Optional(Type.String({ maxLength: 60 })),
    package: Type.Optional(Type.String({ maxLength: 255 })),
    /** Length of the typed text, in characters. */
    text_length: Type.Optional(Type.Integer({ minimum: 0 })),
  },
  { title: 'RecordedCall' },
);
export type RecordedCall = Static<typeof RecordedCall>;
export const RecordedCalls = Type.Array(RecordedCall, { maxItems: maxRecordedCalls });
export type RecordedCalls = Static<typeof RecordedCalls>;

const fact = (maxLength: number, description: string) =>
  Type.Union([Type.String({ maxLength }), Type.Null()], { description });

/** The app of a record's last screen, as far as the phone says. */
export const RecordedApp = Type.Object(
  {
    package: Type.String({ maxLength: 255 }),
    activity: fact(255, 'In full, such as `com.example.shop.CheckoutActivity`'),
    version: fact(100, 'The version name of the installed package'),
    language: fact(35, 'Of the phone, as a BCP 47 tag such as `de-DE`'),
  },
  { title: 'RecordedApp' },
);
export type RecordedApp = Static<typeof RecordedApp>;

/** The version of an app that a run was about, for figures of versions. */
export const RunApp = Type.Object(
  { package: RecordedApp.properties.package, version: Type.String({ minLength: 1, maxLength: 100 }) },
  { title: 'RunApp' },
);
export type RunApp = Static<typeof RunApp>;

/** One captured screen, as a host tells of it; the captures themselves follow by HTTP. */
export const ScreenReport = Type.Object({
  screen_id: Uuid,
  /** The stage that the automation was trying to reach. */
  next_stage: stage,
  /** The identified state, or `unknown`. */
  screen_state: stage,
  /** Remaining steps; 0 means out of steps. */
  max_steps: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  /** Epoch ms on the service's clock. */
  timestamp: EpochMs,
  /** False when the tree could not be read: the record is partial. */
  has_tree: Type.Boolean(),
  /** `null` when there is no picture, wanted or not. */
  screenshot: Type.Union([
    Type.Object({ width: side, height: side, original_width: side, original_height: side }),
    Type.Null(),
  ]),
  /** True when a picture was wanted and could not be taken: the record is partial. */
  screenshot_failed: Type.Boolean(),
  /** Calls on this screen before the next one was stored, in order. */
  calls: Type.Optional(RecordedCalls),
});
export type ScreenReport = Static<typeof ScreenReport>;

/** A record as a host tells of it. */
export const RecordReport = Type.Object({
  /** UUIDv7 of the time at which it was made, on the service's clock. */
  record_id: Uuid,
  run_id: Uuid,
  type: RecordType,
  /** `null`: none. Only `debug` records have one. */
  tag: Type.Union([Tag, Type.Null()]),
  /** Oldest first. */
  screens: Type.Array(ScreenReport, { maxItems: maxRecordScreens }),
  /** True when the run died before it could tell everything. */
  is_cut_short: Type.Boolean(),
  /** The error that ended the run, of a `crash` or a `timeout` that its host has recorded. */
  error: Type.Optional(Type.Union([RunError, Type.Null()])),
  app: Type.Optional(Type.Union([RecordedApp, Type.Null()])),
});
export type RecordReport = Static<typeof RecordReport>;

/** A call of a record in words, such as `tap at 540, 1200`. */
export function describeCall({
  name,
  key,
  package: app,
  text_length: length,
  ...place
}: RecordedCall): string {
  const { x, y, to_x: toX, to_y: toY } = place;
  const from = x === undefined || y === undefined ? '' : `${x}, ${y}`;
  const to = toX === undefined || toY === undefined ? '' : `${toX}, ${toY}`;
  const parts = [
    wordsOf(name),
    from !== '' && (to === '' ? `at ${from}` : `from ${from} to ${to}`),
    key !== undefined && key,
    app !== undefined && `of ${app}`,
    length !== undefined && `of ${length} characters`,
  ];
  return parts.filter((part) => part !== false).join(' ');
}

/** `input.longPress` is a long press, `app.launch` a launch of an app. */
function wordsOf(name: string): string {
  const [group = '', call = group] = name.split('.');
  const words = call.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return group === 'input' || group === 'alert' || group === call ? words : `${group} ${words}`;
}
