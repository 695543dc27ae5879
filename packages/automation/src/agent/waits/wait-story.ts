import { nodesBelow, textsOf } from '../nodes/node-search.ts';
import { nearestOf } from '../nodes/nearest-texts.ts';
import { findRemark } from '../nodes/tree-ids.ts';
import type { WaitTold } from './wait-timeout-error.ts';

/** More changes than this are told as the first and the last ones. */
const maxSeen = 12;
const maxTitleLength = 60;

/** Notes what a wait sees. */
export function createWaitStory(now: () => number) {
  const beganAt = now();
  const seen: { afterMs: number; packageName: string; title: string }[] = [];
  let reads = 0;
  let failedReads = 0;
  let lastFailure: Error | undefined;
  let lastScreen: AndroidNode | undefined;
  let remark: string | undefined;

  return {
    saw(screen: AndroidNode): void {
      reads += 1;
      lastScreen = screen;
      remark = findRemark(screen) ?? remark;
      const { packageName } = screen;
      const title = titleOf(screen);
      const last = seen.at(-1);
      if (last?.packageName === packageName && last.title === title) return;
      if (seen.length === maxSeen) seen.splice(maxSeen / 2, 1);
      seen.push({ afterMs: now() - beganAt, packageName, title });
    },
    readFailed(error: unknown): undefined {
      reads += 1;
      failedReads += 1;
      lastFailure = error instanceof Error ? error : new Error(String(error));
    },
    end({
      awaited,
      near,
      nearIds,
    }: {
      awaited: string;
      near?: string | undefined;
      nearIds?: boolean;
    }): WaitTold {
      const words = lastScreen === undefined ? [] : wordsOf(lastScreen, nearIds === true);
      const waitedMs = now() - beganAt;
      return {
        awaited,
        waitedMs,
        reads,
        failedReads,
        lastFailure,
        seen,
        remark,
        nearest: nearestOf(words, near),
      };
    },
  };
}

/** What a person would call the screen: its pane title, or the first text on it. */
function titleOf(screen: AndroidNode): string {
  const nodes = nodesBelow(screen);
  const title = nodes.find(({ paneTitle }) => paneTitle)?.paneTitle ?? nodes.flatMap(textsOf)[0] ?? '';
  return title.length > maxTitleLength ? `${title.slice(0, maxTitleLength)}…` : title;
}

function wordsOf(screen: AndroidNode, ids: boolean): string[] {
  const nodes = nodesBelow(screen);
  return ids ? nodes.flatMap(({ viewId }) => viewId ?? []) : nodes.flatMap(textsOf);
}
