import { AppLimit, PhoneSettings, ScreenMasks } from '@phalanx/protocol';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Db, Transaction } from '../../storage/db/database.ts';
import { textsIn } from '../../storage/db/dialect.ts';
import type { Bundle } from './bundles.ts';

/** What the code of a launch is given. */
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

/** What a server sends to a host of a launch that another one has stored. */
export interface LaunchPayload {
  readonly launch: string;
  readonly bundle: Bundle;
  readonly given: Given;
}

const validator = Compile(Given);
/** A bundle that was launched so lately need not be noted as used again. */
const noteUseAfterMs = 60 * 60 * 1000;
/** Nobody waits longer for a host to begin. */
const payloadMs = 60 * 60 * 1000;
const bundleMs = 24 * 60 * 60 * 1000;

/** Keeps it until it is sent, in the transaction that stores the launch. */
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

    /** What nobody sends any more goes. */
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
