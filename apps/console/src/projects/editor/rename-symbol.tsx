import type { CodePlace } from '@phalanx/protocol';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { call } from '../../api/call.ts';
import { ActionDialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/field.tsx';
import { notify } from '../../parts/notices.tsx';
import { messageOf } from '../../parts/states.tsx';
import { readStoredFile } from '../queries.ts';

/** A name in a saved file. */
export interface NamedPlace {
  readonly path: string;
  readonly content: string;
  readonly position: number;
  readonly name: string;
}

interface RenameSymbolProps {
  projectId: string;
  place: NamedPlace;
  onClose: () => void;
}

/** Gives a name another one in all files; the service saves them together, or refuses them all. */
export function RenameSymbol({ projectId, place, onClose }: RenameSymbolProps) {
  const queries = useQueryClient();
  const [name, setName] = useState(place.name);
  const [problem, setProblem] = useState<string>();
  const params = { id: projectId };
  const rename = async (): Promise<void> => {
    try {
      const { path, content, position } = place;
      const body = { path, content, position };
      const { etag } = await call('GET /api/v2/automation/files/:id', { params, query: { limit: 1 } });
      const found = await call('POST /api/v2/automation/references/:id', { params, body });
      if (found.definition === null) return setProblem('It is not defined in this project.');
      const files = await renamed(projectId, found.references, name.trim());
      await call('PUT /api/v2/automation/files/:id', {
        params,
        body: { files, deleted: [], expected_etag: etag },
      });
      notify(`${place.name} is now ${name.trim()}`, `Changed: ${files.map((file) => file.path).join(', ')}`);
      await queries.invalidateQueries({ queryKey: ['files', projectId] });
      onClose();
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return (
    <ActionDialog
      title={`Rename ${place.name}`}
      onClose={onClose}
      action="Rename"
      reason={
        /^[\p{L}_$][\p{L}\d_$]*$/u.test(name.trim()) && name.trim() !== place.name
          ? undefined
          : 'Type another name.'
      }
      onAct={rename}
    >
      <TextField
        label="New name"
        hint="In all files of the project that use it. They are checked and saved together."
        problem={problem}
        value={name}
        onChange={setName}
      />
    </ActionDialog>
  );
}

async function renamed(
  projectId: string,
  references: readonly CodePlace[],
  name: string,
): Promise<{ path: string; content: string }[]> {
  const byPath = Map.groupBy(references, ({ path }) => path);
  return Promise.all(
    Array.from(byPath, async ([path, places]) => {
      const { content } = await readStoredFile(projectId, path);
      return { path, content: withName(content, places, name) };
    }),
  );
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** A text with another name at these places. */
export function withName(text: string, places: readonly Range[], name: string): string {
  return places
    .toSorted((one, other) => other.start - one.start)
    .reduce((changed, { start, end }) => changed.slice(0, start) + name + changed.slice(end), text);
}
