import { posix } from 'node:path';

import { findTarget, specifier, type Sources } from './process/import-graph.ts';

interface Renaming {
  readonly from: string;
  readonly to: string;
}

/** The text of `path` as it has to be when a file of the project is renamed, which may be this one. */
export function renameImports(sources: Sources, path: string, { from, to }: Renaming): string {
  const text = sources.findText(path) ?? '';
  const home = path === from ? to : path;
  return text.replace(specifier, (written: string, quote: string, name: string) => {
    const before = findTarget(sources, path, name);
    if (typeof before !== 'string') return written;
    const after = before === from ? to : before;
    if (after === before && home === path) return written;
    return written.replace(
      `${quote}${name}${quote}`,
      `${quote}${nameOf({ name, before, after, home })}${quote}`,
    );
  });
}

interface Named {
  /** As it was written. */
  readonly name: string;
  readonly before: string;
  readonly after: string;
  /** The file that names it. */
  readonly home: string;
}

/** With an ending where it had one, and as the folder of an index where it was that. */
function nameOf({ name, before, after, home }: Named): string {
  const relative = posix.relative(posix.dirname(home), after);
  const dotted = relative.startsWith('.') ? relative : `./${relative}`;
  const written = /\.[mc]?[jt]sx?$|\.json$/.exec(name)?.[0];
  if (written !== undefined)
    return before.endsWith(written) ? dotted : dotted.replace(/\.([mc]?)tsx?$/, '.$1js');
  const bare = dotted.replace(/(?:\.d)?\.[mc]?[jt]sx?$/, '');
  return bare.endsWith('/index') && !/(?:^|\/)index$/.test(name) ? bare.slice(0, -'/index'.length) : bare;
}
