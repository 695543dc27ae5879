/** Text that is not saved at the service yet, kept by this browser. */
export interface Draft {
  /** User, project and path. */
  readonly key: string;
  readonly content: string;
  /** The version that it was made from; null for a new file. */
  readonly baseEtag: string | null;
  readonly at: number;
}

const storeName = 'drafts';

function openDatabase(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open('phalanx', 1);
    request.addEventListener('upgradeneeded', () =>
      request.result.createObjectStore(storeName, { keyPath: 'key' }),
    );
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error ?? new Error('no storage')));
  });
}

let opened: Promise<IDBDatabase> | undefined;

async function inStore<Result>(
  mode: IDBTransactionMode,
  ask: (store: IDBObjectStore) => IDBRequest<Result>,
): Promise<Result> {
  opened ??= openDatabase();
  const database = await opened;
  return new Promise((resolve, reject) => {
    const request = ask(database.transaction(storeName, mode).objectStore(storeName));
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error ?? new Error('no storage')));
  });
}

let channel: BroadcastChannel | undefined;

/** Tells the other windows of this browser which draft has changed. */
const news = (): BroadcastChannel => (channel ??= new BroadcastChannel('phalanx drafts'));

const keyOf = (userId: string, projectId: string, path: string): string => `${userId} ${projectId} ${path}`;

/** The drafts of one user in one project. A browser that keeps nothing has none. */
export const draftsOf = (userId: string, projectId: string) => ({
  async find(path: string): Promise<Draft | undefined> {
    const found: unknown = await inStore('readonly', (store) =>
      store.get(keyOf(userId, projectId, path)),
    ).catch(() => undefined);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only `keep` writes there
    return found as Draft | undefined;
  },
  async keep(path: string, draft: Pick<Draft, 'content' | 'baseEtag'>): Promise<void> {
    const row: Draft = { key: keyOf(userId, projectId, path), at: Date.now(), ...draft };
    await inStore('readwrite', (store) => store.put(row)).catch(() => undefined);
    news().postMessage(row.key);
  },
  async drop(path: string): Promise<void> {
    const key = keyOf(userId, projectId, path);
    await inStore('readwrite', (store) => store.delete(key)).catch(() => undefined);
    news().postMessage(key);
  },
  /** Told of what another window of this browser has kept or dropped. Returns what ends it. */
  follow(path: string, listener: () => void): () => void {
    const key = keyOf(userId, projectId, path);
    const hear = ({ data }: MessageEvent<unknown>): void => {
      if (data === key) listener();
    };
    news().addEventListener('message', hear);
    return () => news().removeEventListener('message', hear);
  },
  /** Paths with their texts. */
  async listTexts(): Promise<[path: string, content: string][]> {
    const texts: [string, string][] = [];
    for (const path of await this.list()) {
      const draft = await this.find(path);
      if (draft !== undefined) texts.push([path, draft.content]);
    }
    return texts;
  },
  /** The paths that have one. */
  async list(): Promise<string[]> {
    const start = keyOf(userId, projectId, '');
    const range = IDBKeyRange.bound(start, `${start}\uffff`);
    const keys = await inStore('readonly', (store) => store.getAllKeys(range)).catch(() => []);
    return keys.flatMap((key) => (typeof key === 'string' ? [key.slice(start.length)] : []));
  },
});
