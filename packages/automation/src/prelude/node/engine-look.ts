import type { LookAt, Port } from '../port.ts';

/** Functions that the child's debugger calls inside the isolate. */
export interface LookEnds {
  show: () => unknown;
  /** Receives the parts; called without arguments if the value has none. */
  take: (...parts: unknown[]) => void;
}

/** Maximum number of rounds. An inspection takes about five; a larger number means that it never completes. */
const maxRounds = 1000;

/** State shared by both sides of an inspection. */
const look = {
  port: undefined as Port | undefined,
  shown: undefined as unknown,
  taken: undefined as unknown[] | undefined,
  isBusy: false,
};

export function connectEngine(port: Port): LookEnds {
  look.port = port;
  return {
    show: () => look.shown,
    take: (...parts) => {
      look.taken = parts;
    },
  };
}

/** Detaches the debugger: `lookAt` returns nothing afterwards. */
export function disconnectEngine(): void {
  look.port = undefined;
}

/** Returns hidden parts of a value without changing it or running a microtask. Empty if the engine shows nothing. */
export function lookAt(what: LookAt, value: object): readonly unknown[] {
  if (look.port === undefined || look.isBusy) return [];
  look.isBusy = true;
  look.shown = value;
  look.taken = undefined;
  try {
    for (let round = 0; round < maxRounds && look.taken === undefined; round += 1) {
      look.port.block('look', what);
      breathe();
    }
    return look.taken ?? [];
  } finally {
    look.shown = look.taken = undefined;
    look.isBusy = false;
  }
}

/** Gives the debugger a chance to run: it can interrupt at function entries and loop iterations. */
function breathe(): void {
  for (let round = 0; round < 1000 && look.taken === undefined; round += 1);
}
