import {
  type CaptureKind,
  OutOfStepsRecord,
  RecordedCalls,
  type RecordScreen,
  RunError,
} from '@phalanx/protocol';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import type { AutomationAccess } from './access-store.ts';
import { readApp, type StoredRecord, type StoredScreen } from './stored-record.ts';
import type { RecordStore } from './store.ts';

/** Returns the URL at which a browser can read a capture. */
export type CaptureUrl = (capture: { recordId: string; screenId: string; kind: CaptureKind }) => string;

type DeviceInfo = OutOfStepsRecord['device_info'];
const deviceInfo = Compile(OutOfStepsRecord.properties.device_info);

export function readDeviceInfo(json: string): DeviceInfo {
  const info: unknown = JSON.parse(json);
  if (!deviceInfo.Check(info)) throw new Error('a stored record has no readable device');
  return info;
}

const runError = Compile(RunError);

export function readError(json: string | null): OutOfStepsRecord['error'] {
  const error: unknown = json === null ? null : JSON.parse(json);
  return runError.Check(error) ? error : null;
}

const recordedCalls = Compile(RecordedCalls);

export function readActions(json: string | null): RecordedCalls {
  const calls: unknown = json === null ? [] : JSON.parse(json);
  return recordedCalls.Check(calls) ? calls : [];
}

export function screenView(screen: StoredScreen, url: CaptureUrl): Static<typeof RecordScreen> {
  const { record_id: recordId, screen_id: screenId } = screen;
  const urlOf = (kind: CaptureKind): string | null =>
    screen[kind] === 'stored' ? url({ recordId, screenId, kind }) : null;
  return {
    _id: screenId,
    uiUrl: urlOf('tree'),
    screenshot: {
      screenshotUrl: urlOf('screenshot'),
      compressedWidth: screen.width,
      compressedHeight: screen.height,
      originalWidth: screen.original_width,
      originalHeight: screen.original_height,
    },
    nextStage: screen.next_stage,
    screenState: screen.screen_state,
    maxSteps: screen.max_steps,
    timestamp: screen.captured_at,
    actions: readActions(screen.actions),
  };
}

/** Returns the API view of a record. */
function recordView(
  record: StoredRecord,
  screens: readonly StoredScreen[],
  url: CaptureUrl,
): OutOfStepsRecord {
  return {
    device_info: readDeviceInfo(record.device_info),
    automation_name: record.automation_name,
    out_of_steps_id: record.id,
    automation_id: record.automation_id,
    run_id: record.run_id,
    type: record.type,
    status: record.status,
    screens: screens.map((screen) => screenView(screen, url)),
    added: new Date(record.added_at).toISOString(),
    saved: record.saved === 1,
    tag: record.tag,
    partial: record.is_partial === 1,
    error: readError(record.error),
    app: readApp(record.app) ?? null,
  };
}

/** Returns the API view of a record. Reads nothing when it is given the screens of a new record. */
export type ReadRecord = (
  record: StoredRecord,
  screens?: readonly StoredScreen[],
) => Promise<OutOfStepsRecord>;

interface Options {
  store: RecordStore;
  access: AutomationAccess;
  captureUrl: CaptureUrl;
}

export function createReadRecord({ store, access, captureUrl }: Options): ReadRecord {
  /** Returns the current name, because a project may have been renamed. */
  const nameOf = async ({ project_id: projectId, automation_name: name }: StoredRecord): Promise<string> =>
    (projectId === null ? undefined : await access.findProject(projectId))?.name ?? name;

  return async (record, known) => {
    if (known !== undefined) return recordView(record, known, captureUrl);
    const screens = await store.listScreens(record.id);
    return recordView({ ...record, automation_name: await nameOf(record) }, screens, captureUrl);
  };
}
