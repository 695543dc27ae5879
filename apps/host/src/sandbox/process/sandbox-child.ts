import type { Socket } from 'node:net';
import type { Confinement } from '@phalanx/confinement';
import { SandboxReport, type SandboxCommand } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';

import type { SandboxBundles } from './bundles.ts';
import { spawnConfinedChild, type ConfinedChild } from './confined-child.ts';

const reports = Compile(SandboxReport);

/** The process of one run. */
export type SandboxChild = ConfinedChild<SandboxCommand, SandboxReport>;

/** What every child is started with. */
export interface ChildGround {
  bundles: SandboxBundles;
  confinement: Confinement;
  /** Takes the other end of the socket through which a child fetches. The child may fetch when it has resolved. */
  serveFetches: (socket: Socket) => Promise<void>;
  /** As `ConfinedStart` has it. */
  inTurn?: (start: () => Promise<void>) => unknown;
}

/** Starts a process that makes an isolate ready and then waits for a job. Never throws: `exited` tells of failures. */
export const spawnSandboxChild = (ground: ChildGround, memoryMb: number): SandboxChild =>
  spawnConfinedChild({ ...ground, memoryMb, parseReport: (value) => reports.Parse(value) });
