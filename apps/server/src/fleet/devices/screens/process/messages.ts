import { EpochMs, DeviceScreen } from '@phalanx/protocol';
import { Type, type Static } from 'typebox';
import { Compile } from 'typebox/compile';

/** Request to parse the JSON of a host's answer to `screen`. */
export interface ToProcess {
  readonly answer: Uint8Array;
  /** Whether to return the compact screen instead of only checking the answer. */
  readonly isCompact: boolean;
}

const text = Type.String({ maxLength: 100_000 });

const CompactScreenJson = Type.Object({
  head: text,
  leftOut: text,
  lines: Type.Array(
    Type.Object({
      text,
      depth: Type.Integer(),
      isTouchable: Type.Boolean(),
      texts: Type.Array(text),
      identity: Type.Object({
        key: text,
        context: text,
        around: text,
        twinsAround: text,
        checked: text,
        place: text,
        twins: Type.Integer(),
      }),
    }),
    { maxItems: 1000 },
  ),
});

const FromProcess = Type.Union([
  /** First message of the process. */
  Type.Object({ kind: Type.Literal('ready') }),
  Type.Object({ kind: Type.Literal('fits') }),
  Type.Object({ kind: Type.Literal('compact'), captured_at: EpochMs, compact: CompactScreenJson }),
  Type.Object({ kind: Type.Literal('refused') }),
]);
export type FromProcess = Static<typeof FromProcess>;

const fromProcess = Compile(FromProcess);
export const isFromProcess = (message: unknown): message is FromProcess => fromProcess.Check(message);

const validator = Compile(DeviceScreen);

/** Parses a screen. Returns undefined when the text is not the JSON of a screen. */
export function parseScreen(json: string): DeviceScreen | undefined {
  try {
    const screen: unknown = JSON.parse(json);
    return validator.Check(screen) ? screen : undefined;
  } catch {
    return undefined;
  }
}
