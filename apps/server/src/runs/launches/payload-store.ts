import { AppLimit, PhoneSettings, ScreenMasks } from '@phalanx/protocol';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Db, Transaction } from '../../storage/db/database.ts';
import { textsIn } from '../../storage/db/dialect.ts';
import { dayMs, hourMs } from '@phalanx/timing/durations';
import type { Bundle } from './bundles.ts';

/** Inputs of the launched code. */
const Given = Type.Object({
  automation_id: Type.String(),
  automation_parameters: Type.Record(Type.String(), Type.Unknown()),
  job_variables: Type.Record(Type.String(), Type.Unknown()),
  masks: ScreenMasks,
  film: Type.Optional(Type.Boolean()),
  phone_settings: Type.Optional(PhoneSettings),
  app_limit: Type.Optional(AppLimit),
});
export type Given = Static<typeof Given>;

/** Content of the launch message to a host. It is stored only when another server has to send it. */
export interface LaunchPayload {
  readonly launch: string;
  readonly bundle: Bundle;
  readonly given: Given;
}

const validator = Compile(Given);
/** Minimum interval between updates of a bundle's `used_at`, in ms. */
const noteUseAfterMs = hourMs;
/** Retention of a payload, in ms: no caller waits longer for a host to begin. */
const payloadMs = hourMs;
const bundleMs = dayMs;

/** Stores the payload in the transaction that stores the launch. Payloads are retained for an hour. */
export async function storePayload(
  transaction: Transaction,
  { launch, bundle: { hash, code, sourceMap }, given }: LaunchPayload,
  now: number,
): Promise<void> {
  await transaction
    .insertInto('bundle')
    .values({ hash, code, source_map: sourceMap, used_at: now })
    .onConflict((conflict) =>
      conflict
        .column('hash')
        .doUpdateSet({ used_at: now })
        .where('bundle.used_at', '<', now - noteUseAfterMs),
    )
    .execute();
  await transaction
    .insertInto('launch_payload')
    .values({ launch, bundle_hash: hash, given: JSON.stringify(given), created_at: now })
    .execute();
}

export type PayloadStore = ReturnType<typeof createPayloadStore>;

export function createPayloadStore(db: Db) {
  return {
    async list(launches: readonly string[]): Promise<LaunchPayload[]> {
      const rows = await db
        .selectFrom('launch_payload')
        .innerJoin('bundle', 'bundle.hash', 'launch_payload.bundle_hash')
        .select(['launch', 'given', 'hash', 'code', 'source_map as sourceMap'])
        .where('launch', 'in', textsIn(db, launches))
        .execute();
      return rows.map(({ launch, given, ...bundle }) => ({
        launch,
        bundle,
        given: validator.Parse(JSON.parse(given)),
      }));
    },

    /** Deletes expired payloads, and unused bundles that no payload references. */
    async deleteOld(now: number): Promise<void> {
      await db
        .deleteFrom('launch_payload')
        .where('created_at', '<', now - payloadMs)
        .execute();
      await db
        .deleteFrom('bundle')
        .where('used_at', '<', now - bundleMs)
        .where((eb) => {
          const used = eb.selectFrom('launch_payload').select('launch').whereRef('bundle_hash', '=', 'hash');
          return eb.not(eb.exists(used));
        })
        .execute();
    },
  };
}
