import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CaptureKind, RecordReport } from '@phalanx/protocol';
import type { Arrival } from './read-frame.ts';

type Answer = number | 'cut' | 'never';
interface Missing {
  screen_id: string;
  kind: CaptureKind;
}

const path = /^\/api\/v2\/hosts\/records\/([^/]+)\/screens\/([^/]+)\/(tree|screenshot)$/;

const filePath = /^\/api\/v2\/hosts\/runs\/([^/]+)\/files\/([^/?]+)$/;

const filmPath = /^\/api\/v2\/hosts\/runs\/([^/]+)\/film\/([^/?]+)$/;

/** Picture or video of a film, as uploaded. */
interface TakenPart {
  number: number;
  takenAt: number;
  /** End of a video; undefined for a picture. */
  endedAt: number | undefined;
  noVideo: string | undefined;
  contentType: string | undefined;
  width: number;
  height: number;
  body: Buffer;
}

/** File of a run, as uploaded. */
interface TakenFile {
  runId: string;
  name: string | null;
  contentType: string | null;
  body: Buffer;
}

/** Storage of the test service for records and files of runs. */
export class TestRecords {
  readonly reports = new Map<string, RecordReport>();
  /** Captures by `screen_id/kind`. */
  readonly captures = new Map<string, { body: Buffer; contentType: string | undefined }>();
  /** Files by their ID. */
  readonly files = new Map<string, TakenFile>();
  /** Parts of films, by their ID. */
  readonly #parts = new Map<string, TakenPart & { runId: string }>();
  /** Returns the answer to a PUT: a status, a broken connection, or no answer. */
  answer: (path: string) => Answer = () => 200;

  /** Stores a record. Returns the missing captures. */
  add(record: RecordReport): Missing[] {
    this.reports.set(record.record_id, record);
    return this.#missingOf(record);
  }

  list(): RecordReport[] {
    return [...this.reports.values()];
  }

  of(runId: string): RecordReport[] {
    return this.list().filter(({ run_id }) => run_id === runId);
  }

  whole(runId: string, type: RecordReport['type']): RecordReport | undefined {
    return this.of(runId).find((record) => record.type === type && this.#missingOf(record).length === 0);
  }

  /** Returns the pictures and videos of a run's film, by number. */
  filmOf(runId: string): TakenPart[] {
    const parts = [...this.#parts.values()].filter((part) => part.runId === runId);
    return parts.toSorted((one, other) => one.number - other.number);
  }

  /** Returns the tree of a screen as text. */
  treeOf(screenId: string): string {
    return this.captures.get(`${screenId}/tree`)?.body.toString() ?? '';
  }

  async take(request: IncomingMessage, response: ServerResponse, token: string): Promise<Arrival> {
    const answer = this.answer(request.url ?? '');
    const body = await bytesOf(request, answer === 'cut');
    const status = this.#statusOf(request, token, answer);
    if (status === 200) this.#takeFile(request.url ?? '', body);
    if (status === 200) this.#takePart(request.url ?? '', request.headers['content-type'], body);
    const [, , screenId, kind] = path.exec(request.url ?? '') ?? [];
    const contentType = request.headers['content-type'];
    if (status === 200 && kind !== undefined) this.captures.set(`${screenId}/${kind}`, { body, contentType });
    if (typeof answer === 'number') response.writeHead(status).end();
    return { kind: 'capture', path: request.url ?? '', status };
  }

  #takeFile(address: string, body: Buffer): void {
    const { pathname, searchParams } = new URL(address, 'http://test');
    const [, runId, fileId] = filePath.exec(pathname) ?? [];
    if (runId === undefined || fileId === undefined) return;
    const about = { name: searchParams.get('name'), contentType: searchParams.get('content_type') };
    this.files.set(fileId, { runId, ...about, body });
  }

  #takePart(address: string, contentType: string | undefined, body: Buffer): void {
    const { pathname, searchParams } = new URL(address, 'http://test');
    const [, runId, partId] = filmPath.exec(pathname) ?? [];
    if (runId === undefined || partId === undefined) return;
    const at = (name: string): number => Number(searchParams.get(name));
    this.#parts.set(partId, {
      runId,
      number: at('number'),
      takenAt: at('taken_at'),
      width: at('width'),
      height: at('height'),
      endedAt: searchParams.has('ended_at') ? at('ended_at') : undefined,
      noVideo: searchParams.get('no_video') ?? undefined,
      contentType,
      body,
    });
  }

  #statusOf({ method, url, headers }: IncomingMessage, token: string, answer: Answer): number {
    const [, recordId] = path.exec(url ?? '') ?? [];
    const pathname = (url ?? '').split('?', 1)[0] ?? '';
    const isOfRun = filePath.test(pathname) || filmPath.test(pathname);
    if (method !== 'PUT' || (recordId === undefined && !isOfRun)) return 404;
    if (headers.authorization !== `Bearer ${token}`) return 401;
    if (recordId !== undefined && !this.reports.has(recordId)) return 404;
    return typeof answer === 'number' ? answer : 0;
  }

  #missingOf({ screens }: RecordReport): Missing[] {
    return screens
      .flatMap(({ screen_id, has_tree, screenshot }): Missing[] => [
        ...(has_tree ? [{ screen_id, kind: 'tree' as const }] : []),
        ...(screenshot === null ? [] : [{ screen_id, kind: 'screenshot' as const }]),
      ])
      .filter(({ screen_id, kind }) => !this.captures.has(`${screen_id}/${kind}`));
  }
}

async function bytesOf(request: IncomingMessage, isCut: boolean): Promise<Buffer> {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    if (isCut) request.socket.destroy();
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  request.on('error', () => {}).on('close', resolve);
  await promise;
  return Buffer.concat(chunks);
}
