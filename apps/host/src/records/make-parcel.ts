import { defaultTag, type RecordReport, type ScreenReport } from '@phalanx/protocol';

import type { KeptScreen } from './kept-screen.ts';
import type { Capture, RecordParcel } from './record-parcel.ts';

type About = Pick<RecordReport, 'record_id' | 'run_id' | 'type' | 'tag' | 'error'>;

/** A record of the screens as they are now. */
export function makeParcel(about: About, screens: readonly KeptScreen[]): RecordParcel {
  const { tag } = about;
  return {
    report: {
      ...about,
      tag: tag === defaultTag ? null : tag,
      screens: screens.map(reportOf),
      is_cut_short: false,
    },
    captures: screens.flatMap(capturesOf),
  };
}

function reportOf({ tree, picture, ...screen }: KeptScreen): ScreenReport {
  return {
    screen_id: screen.screenId,
    next_stage: screen.nextStage,
    screen_state: screen.screenState,
    max_steps: screen.maxSteps,
    timestamp: screen.timestamp,
    has_tree: tree !== undefined,
    screenshot:
      picture === undefined
        ? null
        : {
            width: picture.width,
            height: picture.height,
            original_width: picture.originalWidth,
            original_height: picture.originalHeight,
          },
    screenshot_failed: screen.wantsPicture && picture === undefined,
  };
}

function capturesOf({ screenId, tree, picture }: KeptScreen): Capture[] {
  return [
    ...(tree === undefined ? [] : [{ screenId, kind: 'tree' as const, bytes: tree }]),
    ...(picture === undefined ? [] : [{ screenId, kind: 'screenshot' as const, bytes: picture.data }]),
  ];
}
