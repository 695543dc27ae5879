import { type WireLogEntry, WireStep } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';

/** Far more than a step of a host has. */
const maxStepLength = 8192;

const isStep = Compile(WireStep);
/** The number first, because it tells steps from lines of a log. */
const keys = ['step', ...Object.keys(WireStep.properties).filter((key) => key !== 'step')];

/** A step on its way to be stored. */
export interface StepEntry {
  timestamp: number;
  /** Its JSON, without braces, ID, run and time. */
  text: string;
}

/** Undefined for what is no step. */
export function readStep([timestamp, , line, json, path]: WireLogEntry): StepEntry | undefined {
  const step: unknown = json.length > maxStepLength ? undefined : parse(json);
  if (!isStep.Check(step)) return undefined;
  // What else a host may have put into it is nobody's.
  const known = Object.fromEntries(
    Object.entries(step)
      .filter(([key]) => keys.includes(key))
      .toSorted(([one], [other]) => keys.indexOf(one) - keys.indexOf(other)),
  );
  const text = JSON.stringify({ ...known, path: path ?? null, line_number: line });
  return { timestamp, text: text.slice(1, -1) };
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
