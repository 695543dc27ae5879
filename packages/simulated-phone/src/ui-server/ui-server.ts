import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Phone } from '../phone.ts';
import { pause } from '../pause.ts';
import { bodies, parseBody } from './bodies.ts';
import type { UiServer } from './instrumentation.ts';
import { Session } from './session.ts';
import { WebDriverError } from './web-driver-error.ts';
import { performActions } from './actions-handler.ts';
import * as device from './device-handlers.ts';
import type { Handler } from './command.ts';
import * as element from './element-handlers.ts';
import * as gesture from './gesture-handlers.ts';

/** Limit of the real server (ServerInitializer.java); a larger body gets only a status. */
const maxBodyBytes = 64 * 1024;
/** Delay in ms of the real server after DELETE session, so that the reply still arrives. */
const shutdownDelayMs = 15;
/** Commands that use UiAutomation.injectInputEvent, which waits for window animations from Android 16 on. */
const injecting = new Set(['actions', 'gestures', 'press_keycode']);
const version = { version: '10.6.6', versionCode: 278 };

interface Answer {
  readonly sessionId: string;
  readonly value: unknown;
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue;
    sizeBytes += chunk.length;
    if (sizeBytes <= maxBodyBytes) chunks.push(chunk);
  }
  if (sizeBytes > maxBodyBytes) throw new BodyTooLarge();
  if (sizeBytes === 0) return undefined;
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw new WebDriverError('invalid argument', 'The body is not JSON.');
  }
}

class BodyTooLarge extends Error {}

/** UiAutomator2 server of Appium: one session at a time. */
class UiAutomator2Server {
  readonly #phone: Phone;
  readonly #onStop: () => void;
  #session: Session | undefined;

  constructor(phone: Phone, onStop: () => void) {
    this.#phone = phone;
    this.#onStop = onStop;
  }

  /** Whether the server survives unplugging the charger, a setting of the real server; by default it stops. */
  get ignoresCharger(): boolean {
    return this.#session?.settings.get('shutdownOnPowerDisconnect') === false;
  }

  setting(name: string): unknown {
    return this.#session?.settings.get(name);
  }

  async answer(request: IncomingMessage): Promise<Answer> {
    const body = await readBody(request);
    const [first, sessionId = '', ...rest] = (request.url ?? '').split('?', 1)[0]?.split('/').slice(1) ?? [];
    const { method } = request;
    if (method === 'GET' && first === 'status') return { sessionId: 'None', value: this.#status() };
    if (method === 'GET' && first === 'sessions')
      return { sessionId: 'None', value: this.#session ? [{ id: this.#session.id }] : [] };
    if (method === 'POST' && first === 'session' && sessionId === '') return this.#create(body);
    if (this.#phone.faults.wedgedHelper) await new Promise(() => {});
    const session = this.#getSession(sessionId);
    if (method === 'DELETE' && first === 'session' && rest.length === 0) return this.#delete(sessionId);
    const route = first === 'session' ? findRoute(method, rest.map(decodeURIComponent)) : undefined;
    if (!route)
      throw new WebDriverError('unknown command', `Unknown command: ${method ?? ''} ${request.url ?? ''}`);
    if (rest.some((part) => injecting.has(part)))
      await pause(this.#phone.power.signal, this.#phone.faults.injectionMs);
    const value = await route.handler({ phone: this.#phone, session, body, parameters: route.parameters });
    return { sessionId, value: value ?? null };
  }

  #status(): unknown {
    return { ready: true, message: 'UiAutomator2 Server is ready to accept commands', build: version };
  }

  #create(body: unknown): Answer {
    const { capabilities } = parseBody(bodies.newSession, body);
    this.#session = new Session(this.#phone.android);
    const { id } = this.#session;
    return { sessionId: id, value: { sessionId: id, capabilities } };
  }

  #delete(sessionId: string): Answer {
    this.#session = undefined;
    setTimeout(this.#onStop, shutdownDelayMs).unref();
    return { sessionId, value: null };
  }

  #getSession(id: string): Session {
    if (this.#session?.id === id) return this.#session;
    throw new WebDriverError('invalid session id', `The session identified by ${id} is not known`);
  }
}

function sendJson(response: ServerResponse, statusCode: number, body: unknown): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(statusCode, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': bytes.length,
  });
  response.end(bytes);
}

function stackTraceOf({ message, javaCause }: WebDriverError): string {
  const head = `io.appium.uiautomator2.common.exceptions.UiAutomator2Exception: ${message}\n`;
  return javaCause === undefined ? head : `${head}Caused by: ${javaCause}\n`;
}

function sendError(response: ServerResponse, error: unknown): void {
  if (error instanceof BodyTooLarge) return void response.writeHead(413, { connection: 'close' }).end();
  const known = error instanceof WebDriverError ? error : new WebDriverError('unknown error', String(error));
  const { code, message } = known;
  sendJson(response, known.statusCode, {
    sessionId: null,
    value: { error: code, message, stacktrace: stackTraceOf(known) },
  });
}

/** Starts the server without a port: connections are passed to it. `onStop` is called when a client ends it. */
export function startUiServer(phone: Phone, onStop: () => void): UiServer {
  const uiServer = new UiAutomator2Server(phone, onStop);
  const streams = new Set<Duplex>();
  const http = createServer((request, response) => {
    // A client that disconnects during a reply needs none.
    response.on('error', () => {});
    uiServer.answer(request).then(
      (answer) => sendJson(response, 200, answer),
      (error: unknown) => sendError(response, error),
    );
  });
  http.on('clientError', (_error, stream) => stream.destroy());
  return {
    get ignoresCharger() {
      return uiServer.ignoresCharger;
    },
    accept(stream) {
      streams.add(stream);
      stream.once('close', () => streams.delete(stream));
      http.emit('connection', stream);
    },
    acceptViewer(stream) {
      streams.add(stream);
      stream.once('close', () => streams.delete(stream));
      void sendPictures(phone, stream, (name) => uiServer.setting(name));
    },
    close() {
      for (const stream of [...streams]) stream.destroy();
    },
  };
}

/** Interval in ms at which the real server polls for a viewer while it has none (MjpegScreenshotStream.java). */
const wakeMs = 500;
const head =
  'HTTP/1.0 200 OK\r\nServer: Android Screenshot Socket Server\r\nConnection: close\r\nContent-Type: multipart/x-mixed-replace; boundary=--BoundaryString\r\n\r\n';

/** Sends pictures to one viewer until it disconnects. The latest one is repeated while the screen stays the same. */
async function sendPictures(phone: Phone, stream: Duplex, setting: (name: string) => unknown): Promise<void> {
  const gone = new AbortController();
  stream.once('close', () => gone.abort());
  stream.on('error', () => gone.abort());
  const number = (name: string, fallback: number) => Number(setting(name) ?? fallback);
  await Promise.race([
    once(stream, 'data', { signal: gone.signal }).catch(() => {}),
    pause(gone.signal, wakeMs * 2),
  ]);
  await pause(gone.signal, wakeMs);
  stream.write(head);
  let last: { screen: unknown; jpeg: Buffer } | undefined;
  while (!gone.signal.aborted) {
    const beganAt = performance.now();
    const { screen } = phone.android;
    if (phone.instrumentation.holdsUiAutomation) {
      const jpeg =
        last?.screen === screen
          ? last.jpeg
          : await phone.camera.takeSmall(
              number('mjpegScalingFactor', 50),
              number('mjpegServerScreenshotQuality', 50),
            );
      last = { screen, jpeg };
      stream.write(
        Buffer.concat([
          Buffer.from(
            `--BoundaryString\r\nContent-type: image/jpg\r\nContent-Length: ${jpeg.length}\r\n\r\n`,
          ),
          jpeg,
          Buffer.from('\r\n\r\n'),
        ]),
      );
      if (stream.writableNeedDrain) await once(stream, 'drain', { signal: gone.signal }).catch(() => {});
    }
    const intervalMs = 1000 / number('mjpegServerFramerate', 10);
    await pause(gone.signal, Math.max(1, intervalMs - (performance.now() - beganAt)));
  }
}

/** Session commands that hosts use, below `/session/:sessionId/`, as named by the real server. */
const table: readonly (readonly [method: 'GET' | 'POST', path: string, handler: Handler])[] = [
  ['GET', 'source', device.source],
  ['GET', 'screenshot', device.screenshot],
  ['GET', 'appium/settings', device.getSettings],
  ['POST', 'appium/settings', device.updateSettings],
  ['POST', 'appium/list_windows', device.listWindows],
  ['POST', 'appium/device/press_keycode', device.pressKeyCode],
  ['POST', 'appium/device/open_notifications', device.openNotifications],
  ['POST', 'appium/device/get_clipboard', device.getClipboard],
  ['POST', 'appium/device/set_clipboard', device.setClipboard],
  ['GET', 'element/active', element.activeElement],
  ['POST', 'element/:id/clear', element.clearElement],
  ['POST', 'element/:id/value', element.sendKeys],
  ['POST', 'actions', performActions],
  ['POST', 'appium/gestures/click', gesture.click],
  ['POST', 'appium/gestures/double_click', gesture.doubleClick],
  ['POST', 'appium/gestures/long_click', gesture.longClick],
];

interface Route {
  readonly handler: Handler;
  readonly parameters: Record<string, string>;
}

function matchPath(pattern: string, segments: readonly string[]): Record<string, string> | undefined {
  const parts = pattern.split('/');
  if (parts.length !== segments.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, part] of parts.entries()) {
    const segment = segments[index] ?? '';
    if (part.startsWith(':')) parameters[part.slice(1)] = segment;
    else if (part !== segment) return undefined;
  }
  return parameters;
}

/** Finds the handler for the path segments after the session ID. */
function findRoute(method: string | undefined, segments: readonly string[]): Route | undefined {
  for (const [routeMethod, pattern, handler] of table) {
    const parameters = routeMethod === method ? matchPath(pattern, segments) : undefined;
    if (parameters) return { handler, parameters };
  }
  return undefined;
}
