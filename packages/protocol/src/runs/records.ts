import { Type, type Static } from 'typebox';

import { EpochMs, Uuid } from '../ids.ts';
import { RunError } from './runs.ts';
import { maxStageLength, maxRecordedCalls } from './run-limits.ts';

export const recordTypes = ['outOfSteps', 'timeout', 'debug', 'crash'] as const;
export const RecordType = Type.Enum(recordTypes, { title: 'RecordType' });
export type RecordType = Static<typeof RecordType>;

/** Statuses of a record. A pending record is marked once. */
export const recordStatuses = ['pending', 'solved', 'skipped'] as const;
export const RecordStatus = Type.Enum(recordStatuses, { title: 'RecordStatus' });
export type RecordStatus = Static<typeof RecordStatus>;

/** Tag of records that were submitted without one. */
export const defaultTag = 'default';
export const Tag = Type.String({ minLength: 1, maxLength: 64 });

/** Number of `debug` records kept per automation and tag; also the number that a run may submit at once. */
export const keptDebugRecords = 200;

/** Maximum number of a run's last screens that are kept for a record. */
export const maxRecordScreens = 50;

/** Captures of a screen: its accessibility tree (JSON) or its picture (JPEG). */
export const captureKinds = ['tree', 'screenshot'] as const;
export const CaptureKind = Type.Enum(captureKinds);
export type CaptureKind = Static<typeof CaptureKind>;

/** Maximum size of a capture in bytes; larger ones are refused. */
export const maxCaptureBytes = 16 * 1024 * 1024;

const stage = Type.String({ maxLength: maxStageLength });
const side = Type.Integer({ minimum: 0, maximum: 100_000 });

const point = Type.Integer({ minimum: -100_000, maximum: 100_000 });

/**
 * Call that may change the phone, without the typed text. Calls on masked nodes and password fields are not recorded.
 */
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

/** App of a record's last screen, as far as the phone reports it. */
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

/** Main app of a run with its version, for statistics per version. */
export const RunApp = Type.Object(
  { package: RecordedApp.properties.package, version: Type.String({ minLength: 1, maxLength: 100 }) },
  { title: 'RunApp' },
);
export type RunApp = Static<typeof RunApp>;

/** Captured screen as reported by a host. The captures themselves follow over HTTP. */
export const ScreenReport = Type.Object({
  screen_id: Uuid,
  /** Stage that the automation was trying to reach. */
  next_stage: stage,
  /** Identified state, or `unknown`. */
  screen_state: stage,
  /** Number of remaining steps; 0 means out of steps. */
  max_steps: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  /** Time of the screen in epoch milliseconds on the service's clock. */
  timestamp: EpochMs,
  /** Whether the tree was read. Without it, the record is partial. */
  has_tree: Type.Boolean(),
  /** Picture of the screen; `null` when there is none, requested or not. */
  screenshot: Type.Union([
    Type.Object({ width: side, height: side, original_width: side, original_height: side }),
    Type.Null(),
  ]),
  /** Whether a requested picture could not be taken. Then the record is partial. */
  screenshot_failed: Type.Boolean(),
  /** Calls on this screen before the next one was stored, in order. */
  calls: Type.Optional(RecordedCalls),
});
export type ScreenReport = Static<typeof ScreenReport>;

/** Record as reported by a host. */
export const RecordReport = Type.Object({
  /** UUIDv7 with the creation time of the record, on the service's clock. */
  record_id: Uuid,
  run_id: Uuid,
  type: RecordType,
  /** Tag of a `debug` record; `null` for all others. */
  tag: Type.Union([Tag, Type.Null()]),
  /** Screens of the record, oldest first. */
  screens: Type.Array(ScreenReport, { maxItems: maxRecordScreens }),
  /** Whether the run died before it could report everything. */
  is_cut_short: Type.Boolean(),
  /** Error that ended the run, for a `crash` or a `timeout` that its host has recorded. */
  error: Type.Optional(Type.Union([RunError, Type.Null()])),
  app: Type.Optional(Type.Union([RecordedApp, Type.Null()])),
});
export type RecordReport = Static<typeof RecordReport>;

/** Describes a recorded call in words, such as `tap at 540, 1200`. */
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

/**
 * Converts the name of a call to words: `input.longPress` becomes "long press", `app.launch` becomes "launch of an
 * app".
 */
function wordsOf(name: string): string {
  const [group = '', call = group] = name.split('.');
  const words = call.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return group === 'input' || group === 'alert' || group === call ? words : `${group} ${words}`;
}
