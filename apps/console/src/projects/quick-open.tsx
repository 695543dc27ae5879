import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';

import { findMatches } from '../parts/matching.ts';
import { Picker } from '../parts/picker.tsx';
import { filesQuery } from './queries.ts';

const mostFound = 50;

interface QuickOpenProps {
  projectId: string;
  onOpen: (path: string) => void;
  onClose: () => void;
}

/** Ctrl+P: opens a file by some letters of its path. */
export function QuickOpen({ projectId, onOpen, onClose }: QuickOpenProps) {
  const { data } = useQuery(filesQuery(projectId));
  const paths = useMemo(
    () => data?.files.filter(({ change }) => change !== 'deleted').map(({ path }) => path) ?? [],
    [data],
  );
  return (
    <Picker
      name="Open a file"
      label="Open a file"
      find={(text) =>
        findMatches(paths, text, mostFound).map((path) => ({
          ...{ id: path, label: path, note: '', icon: 'file' },
          run: () => onOpen(path),
        }))
      }
      onClose={onClose}
    />
  );
}
