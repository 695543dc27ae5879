/** Imports of each file or folder, as paths from the root. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

export interface ImportCycle {
  /** Shortest cycle, closed: `a, b, a`. */
  readonly path: readonly string[];
  /** Number of further files in cycles with these. */
  readonly more: number;
}

/** Predecessor of every reachable file on a shortest path, for each start. */
type Ways = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Returns one cycle per strongly connected group of files: its shortest, where repair begins. */
export function findCycles(graph: ImportGraph): readonly ImportCycle[] {
  const ways = new Map([...graph.keys()].toSorted().map((start) => [start, waysFrom(graph, start)]));
  const inCircle = [...ways.keys()].filter((path) => ways.get(path)?.has(path));
  const tangles = Map.groupBy(inCircle, (path) => inCircle.find((first) => isTangled(ways, first, path)));
  return [...tangles.values()].map((files) => {
    const paths = files.map((path) => wayAround(ways, path)).toSorted((a, b) => a.length - b.length);
    const path = paths[0] ?? [];
    return { path, more: files.length - (path.length - 1) };
  });
}

function waysFrom(graph: ImportGraph, start: string): ReadonlyMap<string, string> {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (const path of queue) {
    for (const next of graph.get(path) ?? []) {
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, path);
      queue.push(next);
    }
  }
  return cameFrom;
}

function isTangled(ways: Ways, a: string, b: string): boolean {
  return ways.get(a)?.has(b) === true && ways.get(b)?.has(a) === true;
}

/** Returns the path from the file back to itself. */
function wayAround(ways: Ways, file: string): readonly string[] {
  const cameFrom = ways.get(file);
  const way = [file];
  for (let path = cameFrom?.get(file); path !== undefined && path !== file; path = cameFrom?.get(path)) {
    way.unshift(path);
  }
  return [file, ...way];
}
