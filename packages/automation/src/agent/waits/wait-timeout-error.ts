import { readableText } from '../../texts/text-difference.ts';
import { withoutPrelude } from '../../caller-stack.ts';

/** Details of a failed wait for its error. */
export interface WaitReport {
  awaited: string;
  waitedMs: number;
  reads: number;
  failedReads: number;
  lastFailure: Error | undefined;
  seen: readonly { afterMs: number; packageName: string; title: string }[];
  nearest: readonly string[];
  /** Reason why the nearest text differs from the expected one, if the difference is invisible. */
  difference?: string | undefined;
  /** Host's note about the phone during the wait. */
  remark?: string | undefined;
}

/** Error of a wait that timed out. */
export class WaitTimeoutError extends Error {
  awaited = '';
  waitedMs = 0;
  reads = 0;
  seen: WaitReport['seen'] = [];
  nearest: readonly string[] = [];

  constructor() {
    super('');
    hide(this, 'name', 'WaitTimeoutError');
  }

  /** Adds the details to the message and returns the error; its stack stays that of the wait's caller. */
  describe(report: WaitReport): this {
    const message = messageOf(report);
    const frames = withoutPrelude(String(this.stack)).split('\n').slice(1);
    hide(this, 'message', message);
    hide(this, 'stack', [`WaitTimeoutError: ${message}`, ...frames].join('\n'));
    for (const name of ['awaited', 'waitedMs', 'reads', 'seen', 'nearest'] as const)
      hide(this, name, report[name]);
    if (report.lastFailure !== undefined) hide(this, 'cause', report.lastFailure);
    return this;
  }
}

/** Defines a non-enumerable field, because the message already contains its value. */
function hide(error: Error, name: string, value: unknown): void {
  Object.defineProperty(error, name, { value, configurable: true, writable: true, enumerable: false });
}

function messageOf(report: WaitReport): string {
  const { awaited, waitedMs, reads, failedReads, lastFailure, seen, nearest, difference, remark } = report;
  const failures = failedReads > 0 ? `, ${failedReads} times in vain (${lastFailure?.message ?? ''})` : '';
  const lines = [
    `Waited ${seconds(waitedMs)} for ${awaited}, but it did not come. The screen was read ${reads} times${failures}.`,
  ];
  if (seen.length > 0) lines.push('Seen:');
  for (const { afterMs, packageName, title } of seen)
    lines.push(
      `  after ${seconds(afterMs)}: ${packageName}${title === '' ? '' : ` "${readableText(title)}"`}`,
    );
  if (remark !== undefined) lines.push(`About the phone: ${remark}`);
  if (nearest.length > 0)
    lines.push(`Nearest on the last screen: ${nearest.map((text) => `"${readableText(text)}"`).join(', ')}`);
  if (difference !== undefined) lines.push(`The difference: ${difference}.`);
  return lines.join('\n');
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
