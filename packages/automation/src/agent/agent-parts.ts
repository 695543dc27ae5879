import type { Steps } from './trace/steps.ts';
import type { AgentBridge } from './agent-bridge.ts';

/** What stands behind the global `agent`. */
export interface AgentParts {
  bridge: AgentBridge;
  /** Ends the run; does not return. */
  stop: () => never;
  /** Takes JSON text; throws when it is too large. */
  setResult: (json: string) => void;
  sleep: (durationMs: number) => Promise<void>;
  /** Milliseconds that never go backwards. */
  now: () => number;
  steps: Steps;
}
