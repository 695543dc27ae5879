/** More lines are told as the last ones. */
const maxLines = 15;

export interface StoryLine {
  stage: string;
  screenState: string;
  did: 'acted' | 'waited' | 'gave up';
}

/** Notes the steps, equal ones in a row as one line. */
export function createStageStory(now: () => number) {
  const beganAt = now();
  const lines: (StoryLine & { afterMs: number; times: number })[] = [];
  return {
    add(line: StoryLine): void {
      const last = lines.at(-1);
      const isSame =
        last?.stage === line.stage && last.screenState === line.screenState && last.did === line.did;
      if (last !== undefined && isSame) last.times += 1;
      else lines.push({ ...line, afterMs: now() - beganAt, times: 1 });
      if (lines.length > maxLines) lines.shift();
    },
    text: (): string =>
      lines
        .map(({ stage, screenState, did, afterMs, times }) => {
          const often = times > 1 ? ` ${times} times` : '';
          return `  after ${(afterMs / 1000).toFixed(1)} s, on the way to "${stage}": ${screenState}, ${did}${often}`;
        })
        .join('\n'),
  };
}
