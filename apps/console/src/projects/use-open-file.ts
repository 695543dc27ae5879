import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';

import { ApiFailure } from '../api/api-failure.ts';
import { call, callWhole } from '../api/call.ts';
import type { CodeAssistant } from './code-assist.ts';
import { readFindings, type Finding } from './compiler-lines.ts';
import { draftsOf } from './drafts.ts';
import { readStoredFile } from './queries.ts';

const keepDraftMs = 250;
const checkMs = 500;
/** The service checks no larger text while somebody types. */
const mostCheckedLength = 900_000;

type Condition = 'saved' | 'unsaved' | 'saving' | 'refused' | 'conflict';

interface OpenFile {
  readonly path: string;
  /** What the editor begins with; another object begins it anew. */
  readonly initial: { readonly text: string };
  readonly condition: Condition;
  /** When it was saved here. */
  readonly savedAt: number | undefined;
  readonly findings: readonly Finding[];
  readonly error: unknown;
  /** What somebody else has saved meanwhile. */
  readonly theirs: string | undefined;
}

interface Base {
  text: string;
  content: string;
  etag: string | null;
}

interface FilePlace {
  userId: string;
  projectId: string;
  path: string;
}

const unknownEtag = new Set(['file_not_found']);

/** A file in the editor: its draft in this browser, what the checker says, and the way to the service. */
export function useOpenFile({ userId, projectId, path }: FilePlace, mayEdit: boolean) {
  const queries = useQueryClient();
  const [file, setFile] = useState<OpenFile>();
  const [loadError, setLoadError] = useState<unknown>(null);
  const base = useRef<Base>({ text: '', content: '', etag: null });
  const hasLoaded = useRef(false);
  const timers = useRef<{ draft?: number; check?: number }>({});
  const patch = useCallback(
    (change: Partial<OpenFile>) =>
      setFile((known) => (known?.path === path ? { ...known, ...change } : known)),
    [path],
  );

  const load = useCallback(
    async (signal?: AbortSignal) => {
      if (path === '') return;
      setLoadError(null);
      try {
        const draft = await draftsOf(userId, projectId).find(path);
        const stored = await readStoredFile(projectId, path, signal).catch((error: unknown) => {
          if (error instanceof ApiFailure && unknownEtag.has(error.code) && draft !== undefined)
            return { content: '', etag: null };
          throw error;
        });
        const isDraft = mayEdit && draft !== undefined && draft.content !== stored.content;
        const text = isDraft ? draft.content : stored.content;
        const isConflict = isDraft && draft.baseEtag !== stored.etag;
        if (signal?.aborted === true) return;
        base.current = { text, content: stored.content, etag: isDraft ? draft.baseEtag : stored.etag };
        hasLoaded.current = true;
        setFile({
          ...{ path, initial: { text }, savedAt: undefined, findings: [], error: null },
          condition: isConflict ? 'conflict' : isDraft ? 'unsaved' : 'saved',
          theirs: isConflict ? stored.content : undefined,
        });
      } catch (error) {
        if (signal?.aborted !== true) setLoadError(error);
      }
    },
    [userId, projectId, path, mayEdit],
  );
  const keepDraft = useCallback(async () => {
    const { text, content, etag } = base.current;
    const drafts = draftsOf(userId, projectId);
    if (text === content) await drafts.drop(path);
    else await drafts.keep(path, { content: text, baseEtag: etag });
  }, [userId, projectId, path]);

  useEffect(() => {
    const abort = new AbortController();
    const running = timers.current;
    void load(abort.signal);
    const reload = (): void => void load(abort.signal);
    window.addEventListener('phalanx:files-replaced', reload);
    return () => {
      window.removeEventListener('phalanx:files-replaced', reload);
      abort.abort();
      window.clearTimeout(running.check);
      // What waits to be kept is of this file, whatever is opened next.
      window.clearTimeout(running.draft);
      if (hasLoaded.current) void keepDraft();
      hasLoaded.current = false;
    };
  }, [load, keepDraft]);

  const check = useCallback(async () => {
    const { text } = base.current;
    if (text.length > mostCheckedLength) return;
    try {
      const input = { params: { id: projectId }, body: { path, content: text } };
      const { errors, warnings } = await call('POST /api/v2/automation/check/:id', input);
      if (base.current.text !== text) return;
      patch({ findings: [...readFindings(errors, 'error'), ...readFindings(warnings, 'warning')] });
    } catch {
      // The save will say it.
    }
  }, [projectId, path, patch]);

  const change = (text: string): void => {
    base.current.text = text;
    setFile((known) => {
      if (known?.path !== path || known.condition === 'conflict') return known;
      return { ...known, condition: text === base.current.content ? 'saved' : 'unsaved', error: null };
    });
    window.clearTimeout(timers.current.draft);
    window.clearTimeout(timers.current.check);
    timers.current.draft = window.setTimeout(() => void keepDraft(), keepDraftMs);
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
  const mayAsk = (text: string): boolean => mayEdit && text.length <= mostCheckedLength;

  /** Whether the service has the text now. */
  const save = async (isOverwriting = false): Promise<boolean> => {
    const { text, etag } = base.current;
    if (!mayEdit || (file?.condition === 'saved' && text === base.current.content)) return file !== undefined;
    patch({ condition: 'saving', error: null });
    await keepDraft();
    try {
      const headers: Record<string, string> = etag === null ? { 'if-none-match': '*' } : { 'if-match': etag };
      const input = { params: { id: projectId }, body: { path, content: text } };
      const reply = await callWhole(
        'PUT /api/v2/automation/file/:id',
        input,
        isOverwriting ? {} : { headers },
      );
      base.current = { text: base.current.text, content: text, etag: reply.headers.get('etag') };
      await keepDraft();
      const isCurrent = base.current.text === text;
      const findings = readFindings(reply.body.warnings, 'warning');
      patch({ condition: isCurrent ? 'saved' : 'unsaved', savedAt: Date.now(), findings, theirs: undefined });
      void queries.invalidateQueries({ queryKey: ['files', projectId] });
      void queries.invalidateQueries({ queryKey: ['diff', projectId] });
      return true;
    } catch (error) {
      await explain(error);
      return false;
    }
  };

  async function explain(error: unknown): Promise<void> {
    if (error instanceof ApiFailure && error.code === 'precondition_failed') {
      const stored = await readStoredFile(projectId, path).catch(() => undefined);
      patch({ condition: 'conflict', theirs: stored?.content ?? '' });
      return;
    }
    const findings = error instanceof ApiFailure ? readFindings(error.errors, 'error') : [];
    patch({
      condition: findings.length > 0 ? 'refused' : 'unsaved',
      error,
      ...(findings.length > 0 ? { findings } : {}),
    });
  }

  /** Throws away what was typed here. */
  const discard = async (): Promise<void> => {
    window.clearTimeout(timers.current.draft);
    await draftsOf(userId, projectId).drop(path);
    await load();
  };

  return { file: file?.path === path ? file : undefined, loadError, assistant, change, save, discard, load };
}
