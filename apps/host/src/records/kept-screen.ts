import type { RecordedCall } from '@phalanx/protocol';

import type { TakenPicture } from '../driver/pictures/taken-picture.ts';
import type { PackedTree } from './pack-tree.ts';

/** A screen that a run has collected. Tree and picture come a little later; `settled` says when both have come or failed. */
export interface KeptScreen {
  /** Of the last look at a screen it is known when the tree is. */
  screenId: string;
  /** Counted from 1 within the run. */
  readonly number: number;
  readonly nextStage: string;
  readonly screenState: string;
  readonly maxSteps: number;
  /** Epoch milliseconds on the service's clock. */
  readonly timestamp: number;
  readonly wantsPicture: boolean;
  /** Of the app in front, as its tree says; undefined without one. */
  packageName: string | undefined;
  /** What was done before the next one was stored. */
  readonly calls: RecordedCall[];
  tree: PackedTree;
  picture: TakenPicture | undefined;
  settled: Promise<unknown>;
}

export function sizeOf({ tree, picture }: KeptScreen): number {
  return (tree?.byteLength ?? 0) + (picture?.sizeBytes ?? 0);
}
