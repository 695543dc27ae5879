import { errorText } from '@phalanx/settings';
import { frameForm } from '../pictures/taken-picture.ts';
import type { SnapshotText } from '../tree/xml-screen.ts';
import { DriverError, UndoneCallError, type DriverErrorCode } from '../driver-error.ts';
import type { TouchWindow } from '../touch/touch-look.ts';
import { readWindowList } from './window-list.ts';
import { HelperError, type HelperHttp, type HelperReply, type HelperRequest } from './helper-http.ts';

/**
 * WebDriver session of a helper, which has only one; opened again when the helper has lost it. Paths are relative to
 * the session.
 */
export interface HelperSession {
  open(signal: AbortSignal): Promise<void>;
  get(path: string, signal: AbortSignal): Promise<unknown>;
  /** Sends a GET whose value must be text. Returns `known` itself when the same bytes arrive again. */
  getText(path: string, signal: AbortSignal, known?: SnapshotText): Promise<SnapshotText>;
  post(path: string, body: unknown, signal: AbortSignal): Promise<unknown>;
  /** Rejects when the helper answers but has lost its access to the screen. */
  probe(signal: AbortSignal): Promise<void>;
  /**
   * Lists all windows of the main display, front to back; undefined for an answer in another form. Rejects like
   * `probe`.
   */
  listWindows(signal: AbortSignal): Promise<TouchWindow[] | undefined>;
}

const settings = {
  // The helper must answer at once with the current state: waiting is the automation's own business.
  waitForIdleTimeout: 0,
  waitForSelectorTimeout: 0,
  actionAcknowledgmentTimeout: 0,
  scrollAcknowledgmentTimeout: 0,
  // The helper's own limit is 70 levels, below which it silently omits nodes.
  snapshotMaxDepth: 300,
  // Keeps the helper from walking from each node up to the root.
  simpleBoundsCalculation: true,
  // Caches no nodes until an event reports a change: web pages, Compose and some widgets don't report changes.
  deferAccessibilityCacheReset: false,
  // A phone that loses its charger keeps running the helper.
  shutdownOnPowerDisconnect: false,
  // Frames for records and viewers.
  mjpegServerFramerate: frameForm.framesPerSecond,
  mjpegServerScreenshotQuality: frameForm.quality,
  // Lets the phone sleep until a run wants the screen; the helper's own default is a day.
  wakeLockTimeout: 0,
  // Attributes of a focused field, in the answer that names it.
  shouldUseCompactResponses: false,
  elementResponseAttributes:
    'text,attribute/password,attribute/showing-hint,attribute/package,attribute/resource-id',
};

export function createHelperSession(
  http: HelperHttp,
  failing: AbortController,
  screenWidth: number = frameForm.maxWidth,
): HelperSession {
  const failed = failing.signal;
  let sessionId = '';
  const open = async (signal: AbortSignal): Promise<void> => {
    const body = { capabilities: { firstMatch: [{}], alwaysMatch: {} } };
    sessionId = readSessionId(await attempt({ method: 'POST', path: '/session', body, signal }));
    await attempt({
      method: 'POST',
      path: `/session/${sessionId}/appium/settings`,
      body: {
        settings: {
          ...settings,
          mjpegScalingFactor: Math.min(100, (100 * frameForm.maxWidth) / Math.max(1, screenWidth)),
        },
      },
      signal,
    });
  };
  const attempt = (request: HelperRequest): Promise<HelperReply> =>
    http.request(request).catch((error: unknown) => {
      throw toDriverError(error, request.signal, failed, request.path);
    });
  /** Fails the helper because Android has ended its UiAutomation: only a new process gets another one. */
  const fail = (): unknown => {
    const sentence = "Android has ended the UI helper's access to the screen (UiAutomation)";
    failing.abort(new DriverError('ui_helper_failed', `${sentence}.`));
    return new UndoneCallError('ui_helper_failed', `${sentence}; it is being repaired.`);
  };
  const explain = async (error: unknown, path: string, signal: AbortSignal): Promise<unknown> => {
    if (!(error instanceof HelperError) || signal.aborted) return toDriverError(error, signal, failed, path);
    if (isDeadUiAutomation(error)) return fail();
    // A tree is missing: the list of windows shows at once whether the helper still sees any.
    if (/waiting for the root/.test(error.message) && !(await seesWindows(signal))) return fail();
    return toHelperFailure(error, path);
  };
  const windowsRequest = (signal: AbortSignal): HelperRequest => ({
    method: 'POST',
    path: `/session/${sessionId}/appium/list_windows`,
    body: { skipScreenshots: true },
    signal,
  });
  const seesWindows = async (signal: AbortSignal): Promise<boolean> =>
    await http.request(windowsRequest(signal)).then(
      () => true,
      (error: unknown) => !(error instanceof HelperError && isDeadUiAutomation(error)),
    );
  /** Sends a request with a path relative to the session. */
  const inSession = async ({ path, ...call }: HelperRequest): Promise<HelperReply> => {
    const request = (): HelperRequest => ({ ...call, path: `/session/${sessionId}/${path}` });
    try {
      return await http.request(request());
    } catch (error) {
      if (!isLostSession(error)) throw await explain(error, path, call.signal);
    }
    await open(call.signal);
    return attempt(request());
  };
  return {
    open,
    get: async (path, signal) => (await inSession({ method: 'GET', path, signal })).value,
    post: async (path, body, signal) => (await inSession({ method: 'POST', path, body, signal })).value,
    async probe(signal) {
      if (!(await seesWindows(signal))) throw fail();
    },
    async listWindows(signal) {
      const path = 'appium/list_windows';
      const { value } = await http.request(windowsRequest(signal)).catch(async (error: unknown) => {
        throw await explain(error, path, signal);
      });
      return readWindowList(value);
    },
    async getText(path, signal, known) {
      const { value, bytes } = await inSession({ method: 'GET', path, signal, known: known?.bytes });
      if (known !== undefined && bytes === known.bytes) return known;
      if (typeof value === 'string') return { text: value, bytes };
      throw new DriverError('phone_answer_unexpected', `The UI helper answered ${path} without text.`);
    },
  };
}

function readSessionId({ sessionId, value }: HelperReply): string {
  const inValue =
    typeof value === 'object' && value !== null && 'sessionId' in value ? value.sessionId : undefined;
  const id = sessionId ?? inValue;
  if (typeof id === 'string' && /^[\w-]{1,100}$/.test(id)) return id;
  throw new DriverError('ui_helper_failed', 'The UI helper gave no session.');
}

function isLostSession(error: unknown): boolean {
  return (
    error instanceof HelperError && (error.kind === 'invalid session id' || error.kind === 'no such driver')
  );
}

function toDriverError(error: unknown, signal: AbortSignal, failed: AbortSignal, path: string): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof DriverError) return error;
  if (error instanceof HelperError) return toHelperFailure(error, path);
  if (failed.aborted) return failed.reason;
  const text = errorText(error);
  return new DriverError(
    'ui_helper_failed',
    `The UI helper on the phone does not answer (${text}); it is being repaired.`,
    error,
  );
}

/**
 * Whether Android has ended the helper's UiAutomation, or what serves it. The helper itself keeps running and reports
 * success.
 */
export function isDeadUiAutomation({ message, trace }: Pick<HelperError, 'message' | 'trace'>): boolean {
  return /UiAutomation not connected|DeadObjectException|DeadSystemException/.test(`${message} ${trace}`);
}

/**
 * Explains a refused call. The call decides the code, because the helper reports refused input as a state of elements.
 */
function toHelperFailure(error: HelperError, path: string): DriverError {
  const code = codeOf(error, path);
  return new DriverError(code, sentenceOf(error, code, path), error);
}

const ofPicture = /(?:^|\/)screenshot$/;
const injecting = /actions$|gestures\/|press_keycode$|\/?back$/;

function codeOf({ kind, message, trace }: HelperError, path: string): DriverErrorCode {
  if (/INJECT_EVENTS|inject/i.test(`${message} ${trace}`)) return 'input_refused';
  if (kind === 'invalid element state') return injecting.test(path) ? 'input_refused' : 'text_not_typable';
  // The helper's message asks whether a window forbids pictures, because it does not know.
  if (ofPicture.test(path)) return 'screen_not_readable';
  if (kind === 'no such element') return 'no_focused_field';
  if (kind === 'no such alert') return 'no_alert';
  if (/root|AccessibilityNodeInfo|window/i.test(message) && kind === 'unknown error')
    return 'screen_not_readable';
  return 'phone_answer_unexpected';
}

function sentenceOf(error: HelperError, code: DriverErrorCode, path: string): string {
  const detail = `${error.kind}: ${error.message.split('\n')[0] ?? ''}`.slice(0, 300);
  switch (code) {
    case 'no_focused_field':
      return 'No text field has the focus. Tap one first.';
    case 'no_alert':
      return 'No dialog with buttons is on the screen.';
    case 'text_not_typable':
      return `The focused field does not take this text (${detail}).`;
    case 'screen_not_readable':
      return ofPicture.test(path)
        ? `The phone gave no picture of its screen (${detail}).`
        : `The screen can't be read now (${detail}). It may be off, locked or changing.`;
    case 'input_refused':
      return `The phone did not take simulated input (${refusalIn(error) ?? detail}).`;
    default:
      return `The UI helper refused the call (${detail}).`;
  }
}

/** Finds Android's own message, which is only in the trace when the helper reports a failed call. */
function refusalIn({ message, trace }: HelperError): string | undefined {
  const lines = `${message}\n${trace}`.split('\n');
  return lines
    .find((line) => line.includes('INJECT_EVENTS'))
    ?.trim()
    .slice(0, 300);
}
