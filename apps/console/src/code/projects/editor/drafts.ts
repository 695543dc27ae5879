/** Unsaved text of a file, stored in this browser. */
export interface Draft {
  /** Key made of user, project and path. */
  readonly key: string;
  readonly content: string;
  /** ETag of the version that the draft is based on; null for a new file. */
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

/** Channel that notifies the other windows of this browser about changed drafts. */
const news = (): BroadcastChannel => (channel ??= new BroadcastChannel('phalanx drafts'));

const keyOf = (userId: string, projectId: string, path: string): string => `${userId} ${projectId} ${path}`;

/** Drafts of one user in one project. A browser without storage has none. */
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
  /**
   * Calls `listener` when another window of this browser stores or drops the draft. Returns the unsubscribe function.
   */
  follow(path: string, listener: () => void): () => void {
    const key = keyOf(userId, projectId, path);
    const hear = ({ data }: MessageEvent<unknown>): void => {
      if (data === key) listener();
    };
    news().addEventListener('message', hear);
    return () => news().removeEventListener('message', hear);
  },
  /** Returns the paths of all drafts with their texts. */
  async listTexts(): Promise<[path: string, content: string][]> {
    const texts: [string, string][] = [];
    for (const path of await this.list()) {
      const draft = await this.find(path);
      if (draft !== undefined) texts.push([path, draft.content]);
    }
    return texts;
  },
  /** Returns the paths that have a draft. */
  async list(): Promise<string[]> {
    const start = keyOf(userId, projectId, '');
    const range = IDBKeyRange.bound(start, `${start}\uffff`);
    const keys = await inStore('readonly', (store) => store.getAllKeys(range)).catch(() => []);
    return keys.flatMap((key) => (typeof key === 'string' ? [key.slice(start.length)] : []));
  },
});
