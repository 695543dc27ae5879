import { DriverError, type DriverErrorCode } from '../driver-error.ts';
import { HelperError, type HelperHttp, type HelperReply, type HelperRequest } from './helper-http.ts';

/** The one WebDriver session of a helper; opened again when the helper has lost it. Paths are below the session. */
export interface HelperSession {
  open(signal: AbortSignal): Promise<void>;
  get(path: string, signal: AbortSignal): Promise<unknown>;
  /** A GET whose value must be text. */
  getText(path: string, signal: AbortSignal): Promise<string>;
  post(path: string, body: unknown, signal: AbortSignal): Promise<unknown>;
}

// The helper must answer at once with what is there: waiting is the automation's own business.
const settings = {
  waitForIdleTimeout: 0,
  waitForSelectorTimeout: 0,
  actionAcknowledgmentTimeout: 0,
  scrollAcknowledgmentTimeout: 0,
};

export function createHelperSession(http: HelperHttp, failed: AbortSignal): HelperSession {
  let sessionId = '';
  const open = async (signal: AbortSignal): Promise<void> => {
    const body = { capabilities: { firstMatch: [{}], alwaysMatch: {} } };
    sessionId = readSessionId(await attempt({ method: 'POST', path: '/session', body, signal }));
    await attempt({
      method: 'POST',
      path: `/session/${sessionId}/appium/settings`,
      body: { settings },
      signal,
    });
  };
  const attempt = (request: HelperRequest): Promise<HelperReply> =>
    http.request(request).catch((error: unknown) => {
      throw toDriverError(error, request.signal, failed);
    });
  const inSession = async (
    method: 'GET' | 'POST',
    path: string,
    body: unknown,
    signal: AbortSignal,
  ): Promise<unknown> => {
    const request = (): HelperRequest => ({ method, path: `/session/${sessionId}/${path}`, body, signal });
    try {
      return (await http.request(request())).value;
    } catch (error) {
      if (!isLostSession(error)) throw toDriverError(error, signal, failed);
    }
    await open(signal);
    return (await attempt(request())).value;
  };
  return {
    open,
    get: (path, signal) => inSession('GET', path, undefined, signal),
    post: (path, body, signal) => inSession('POST', path, body, signal),
    async getText(path, signal) {
      const value = await inSession('GET', path, undefined, signal);
      if (typeof value === 'string') return value;
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

function toDriverError(error: unknown, signal: AbortSignal, failed: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof DriverError) return error;
  if (error instanceof HelperError) return new DriverError(codeOf(error), sentenceOf(error), error);
  if (failed.aborted) return failed.reason;
  const text = error instanceof Error ? error.message : String(error);
  return new DriverError(
    'ui_helper_failed',
    `The UI helper on the phone does not answer (${text}); it is being repaired.`,
    error,
  );
}

function codeOf({ kind, message }: HelperError): DriverErrorCode {
  if (/secure/i.test(message)) return 'secure_screen';
  if (kind === 'no such element') return 'no_focused_field';
  if (kind === 'invalid element state') return 'text_not_typable';
  if (/root|AccessibilityNodeInfo|window/i.test(message) && kind === 'unknown error')
    return 'screen_not_readable';
  return /INJECT_EVENTS|inject/i.test(message) ? 'input_refused' : 'phone_answer_unexpected';
}

function sentenceOf(error: HelperError): string {
  const detail = `${error.kind}: ${error.message.split('\n')[0] ?? ''}`.slice(0, 300);
  switch (codeOf(error)) {
    case 'secure_screen':
      return 'The app in front forbids pictures of its screen (FLAG_SECURE).';
    case 'no_focused_field':
      return 'No text field has the focus. Tap one first.';
    case 'text_not_typable':
      return `The focused field does not take this text (${detail}).`;
    case 'screen_not_readable':
      return `The screen can't be read now (${detail}). It may be off, locked or changing.`;
    case 'input_refused':
      return `The phone refuses simulated input (${detail}). On Xiaomi phones switch on "USB debugging (Security settings)".`;
    default:
      return `The UI helper refused the call (${detail}).`;
  }
}
