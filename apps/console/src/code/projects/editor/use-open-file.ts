import { ServiceError, ServiceUnreachable } from '@phalanx/client/service-errors';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';

import { call, callWithHeaders } from '../../../api/call.ts';
import { type CodeAssistant, readFindings, type Finding } from './code-assist.ts';
import { draftsOf } from './drafts.ts';
import { readStoredFile, type StoredFile } from '../project.tsx';

const keepDraftMs = 250;
const checkMs = 500;
/** Interval at which the editor checks for changes saved elsewhere, in ms. */
const newestMs = 5000;
/** Maximum length of a text that the service checks while it is typed. */
const maxCheckedLength = 900_000;

type Condition = 'saved' | 'unsaved' | 'saving' | 'refused' | 'conflict';

interface OpenFile {
  readonly path: string;
  /** Text that a fresh editor starts with. A new object resets the editor. */
  readonly initial: { readonly text: string };
  readonly condition: Condition;
  /** Time of the last save in this window. */
  readonly savedAt: number | undefined;
  readonly findings: readonly Finding[];
  readonly error: unknown;
  /** Conflicting text that was saved elsewhere in the meantime. */
  readonly theirs: string | undefined;
}

/** Text of the editor and the stored version that it is based on. */
interface Base {
  text: string;
  content: string;
  etag: string | null;
  /** Text of a save that got no reply: the service may have stored it. */
  unanswered?: string | undefined;
}

/** Rebases on the stored text if it was sent from here. Returns whether it was. */
function goOnFrom(one: Base, { content, etag }: StoredFile): boolean {
  if (content !== one.text && content !== one.unanswered) return false;
  Object.assign(one, { content, etag, unanswered: undefined });
  return true;
}

const isClean = ({ text, content }: Base): boolean => text === content;

interface FilePlace {
  userId: string;
  projectId: string;
  path: string;
}

const unknownEtag = new Set(['file_not_found']);

/** File in the editor: its local draft, its findings, and its saves. */
export function useOpenFile({ userId, projectId, path }: FilePlace, mayEdit: boolean) {
  const queries = useQueryClient();
  const [file, setFile] = useState<OpenFile>();
  const [loadError, setLoadError] = useState<unknown>(null);
  const base = useRef<Base>({ text: '', content: '', etag: null });
  const hasLoaded = useRef(false);
  const saved = useRef<Promise<unknown>>(Promise.resolve());
  const timers = useRef<{ draft?: number; check?: number }>({});
  /** Aborts loading the text of another window as soon as the user types here. */
  const taking = useRef<AbortController>(undefined);
  const patch = useCallback(
    (change: Partial<OpenFile>) =>
      setFile((known) => (known?.path === path ? { ...known, ...change } : known)),
    [path],
  );

  /** Shows the text in a fresh editor. */
  const show = useCallback(
    (one: Base) => {
      base.current = one;
      const condition = isClean(one) ? 'saved' : 'unsaved';
      const nothing = { savedAt: undefined, findings: [], error: null, theirs: undefined };
      setFile({ path, initial: { text: one.text }, condition, ...nothing });
    },
    [path],
  );

  const load = useCallback(
    async (signal?: AbortSignal) => {
      if (path === '') return;
      try {
        const draft = await draftsOf(userId, projectId).find(path);
        const stored = await readStoredFile(projectId, path, signal).catch((error: unknown) => {
          if (error instanceof ServiceError && unknownEtag.has(error.code) && draft !== undefined)
            return { content: '', etag: null };
          throw error;
        });
        const isDraft = mayEdit && draft !== undefined && draft.content !== stored.content;
        const text = isDraft ? draft.content : stored.content;
        const isConflict = isDraft && draft.baseEtag !== stored.etag;
        if (signal?.aborted === true) return;
        if (stored.etag !== null) queries.setQueryData(['files', projectId, 'newest', path], stored);
        setLoadError(null);
        show({ text, content: stored.content, etag: isDraft ? draft.baseEtag : stored.etag });
        hasLoaded.current = true;
        if (isConflict) patch({ condition: 'conflict', theirs: stored.content });
      } catch (error) {
        if (signal?.aborted !== true) setLoadError(error);
      }
    },
    [userId, projectId, path, mayEdit, queries, show, patch],
  );
  const keepDraft = useCallback(
    async (one: Base) => {
      const drafts = draftsOf(userId, projectId);
      if (isClean(one)) await drafts.drop(path);
      else await drafts.keep(path, { content: one.text, baseEtag: one.etag });
    },
    [userId, projectId, path],
  );

  useEffect(() => {
    const abort = new AbortController();
    const running = timers.current;
    setLoadError(null);
    void load(abort.signal);
    return () => {
      abort.abort();
      window.clearTimeout(running.check);
      // A pending draft belongs to this file, regardless of which file is opened next.
      window.clearTimeout(running.draft);
      delete running.draft;
      if (hasLoaded.current) void keepDraft(base.current);
      hasLoaded.current = false;
    };
  }, [load, keepDraft]);

  useEffect(() => {
    if (!(loadError instanceof ServiceUnreachable)) return undefined;
    const abort = new AbortController();
    const timer = window.setInterval(() => void load(abort.signal), newestMs);
    return () => {
      window.clearInterval(timer);
      abort.abort();
    };
  }, [loadError, load]);

  // All windows of a browser share one draft, so text typed in one appears in all of them.
  useEffect(() => {
    const running = timers.current;
    const end = draftsOf(userId, projectId).follow(path, () => {
      if (!hasLoaded.current || running.draft !== undefined) return;
      taking.current?.abort();
      taking.current = new AbortController();
      void load(taking.current.signal);
    });
    return () => {
      end();
      taking.current?.abort();
    };
  }, [userId, projectId, path, load]);

  const { data: found } = useQuery({
    queryKey: ['files', projectId, 'newest', path],
    enabled: file?.path === path,
    // A file that exists only as a draft has no stored version.
    queryFn: ({ signal }) => (base.current.etag === null ? null : readStoredFile(projectId, path, signal)),
    refetchInterval: newestMs,
  });
  const newest = found?.etag;
  useEffect(() => {
    const abort = new AbortController();
    /** Loads the newest version after a pending save, because the version found may be older than that save. */
    const catchUp = async (): Promise<void> => {
      const before = saved.current;
      await before;
      const known = base.current;
      if (!hasLoaded.current || known.etag === newest) return;
      const stored = await readStoredFile(projectId, path, abort.signal);
      if (abort.signal.aborted || base.current !== known || stored.etag === known.etag) return;
      if (saved.current !== before) return catchUp();
      if (isClean(known)) return show({ ...stored, text: stored.content });
      if (!goOnFrom(known, stored)) return patch({ condition: 'conflict', theirs: stored.content });
      patch({ condition: isClean(known) ? 'saved' : 'unsaved', error: null });
      return keepDraft(known);
    };
    if (newest !== undefined) catchUp().catch(() => undefined);
    return () => abort.abort();
  }, [newest, projectId, path, show, patch, keepDraft]);

  const check = useCallback(async () => {
    const { text } = base.current;
    if (text.length > maxCheckedLength) return;
    try {
      const input = { params: { id: projectId }, body: { path, content: text } };
      const { errors, warnings } = await call('POST /api/v2/automation/check/:id', input);
      if (base.current.text !== text) return;
      patch({ findings: [...readFindings(errors, 'error'), ...readFindings(warnings, 'warning')] });
    } catch {
      // The save reports the failure.
    }
  }, [projectId, path, patch]);

  const change = (text: string): void => {
    base.current.text = text;
    taking.current?.abort();
    setFile((known) => {
      if (known?.path !== path || known.condition === 'conflict') return known;
      return { ...known, condition: text === base.current.content ? 'saved' : 'unsaved', error: null };
    });
    window.clearTimeout(timers.current.draft);
    window.clearTimeout(timers.current.check);
    timers.current.draft = window.setTimeout(() => {
      delete timers.current.draft;
      void keepDraft(base.current);
    }, keepDraftMs);
    timers.current.check = window.setTimeout(() => void check(), checkMs);
  };

  const place = (content: string, position: number) =>
    ({ params: { id: projectId }, body: { path, content, position } }) as const;
  const assistant: CodeAssistant = {
    findSymbol: async (text, position) =>
      mayAsk(text)
        ? call('POST /api/v2/automation/symbol/:id', place(text, position))
            .then(({ symbol }) => symbol)
            .catch(() => null)
        : null,
    listCompletions: async (text, position) =>
      mayAsk(text)
        ? call('POST /api/v2/automation/completions/:id', place(text, position))
            .then(({ completions }) => completions)
            .catch(() => [])
        : [],
  };
  const mayAsk = (text: string): boolean => mayEdit && text.length <= maxCheckedLength;

  /**
   * Saves the text. Resolves with whether the service has it. Saves are queued, because each is based on the version
   * before.
   */
  const save = (isOverwriting = false): Promise<boolean> => {
    const next = saved.current.then(() => saveNow(isOverwriting));
    saved.current = next;
    return next;
  };

  async function saveNow(isOverwriting: boolean): Promise<boolean> {
    const one = base.current;
    if (!mayEdit || isClean(one)) return hasLoaded.current;
    const { text, etag } = one;
    patch({ condition: 'saving', error: null });
    await keepDraft(one);
    try {
      const headers = etag === null ? { 'if-none-match': '*' } : { 'if-match': etag };
      const input = { params: { id: projectId }, body: { path, content: text } };
      const { body, headers: got } = await callWithHeaders('PUT /api/v2/automation/file/:id', {
        ...input,
        headers: isOverwriting ? {} : headers,
      });
      Object.assign(one, { content: text, etag: got.get('etag'), unanswered: undefined });
      await hasSaved(one);
      patch({ findings: readFindings(body.warnings, 'warning') });
      return true;
    } catch (error) {
      if (error instanceof ServiceUnreachable) one.unanswered = text;
      return explain(one, error);
    }
  }

  async function hasSaved(one: Base): Promise<void> {
    await keepDraft(one);
    const condition = isClean(one) ? 'saved' : 'unsaved';
    patch({ condition, savedAt: Date.now(), theirs: undefined, error: null });
    void queries.invalidateQueries({ queryKey: ['files', projectId] });
    void queries.invalidateQueries({ queryKey: ['diff', projectId] });
  }

  /**
   * Handles a failed save. Resolves with true if the text is stored nevertheless: the reply to an earlier attempt may
   * have been lost.
   */
  async function explain(one: Base, error: unknown): Promise<boolean> {
    if (error instanceof ServiceError && error.code === 'precondition_failed') {
      const stored = await readStoredFile(projectId, path).catch(() => undefined);
      if (stored !== undefined && goOnFrom(one, stored)) {
        if (!isClean(one)) return saveNow(false);
        await hasSaved(one);
        return true;
      }
      patch({ condition: 'conflict', theirs: stored?.content ?? '' });
      return false;
    }
    const findings = error instanceof ServiceError ? readFindings(error.errors, 'error') : [];
    patch({
      condition: findings.length > 0 ? 'refused' : 'unsaved',
      error,
      ...(findings.length > 0 ? { findings } : {}),
    });
    return false;
  }

  /** Discards the local changes. */
  const discard = async (): Promise<void> => {
    window.clearTimeout(timers.current.draft);
    delete timers.current.draft;
    await draftsOf(userId, projectId).drop(path);
    await load();
  };

  /** Returns the current text of the editor. */
  const text = (): string => base.current.text;

  return {
    file: file?.path === path ? file : undefined,
    loadError,
    text,
    assistant,
    change,
    save,
    discard,
    load,
  };
}
