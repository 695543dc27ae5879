import type { Webhook, WebhookDelivery } from '@phalanx/protocol';
import { useQuery, useQueryClient } from '@tanstack/react-query';

import { SettingsTable } from '../access/settings-table.tsx';
import { call } from '../api/call.ts';
import styles from '../jobs/jobs.module.css';
import { Button } from '../parts/button.tsx';
import { classNames } from '../parts/class-names.ts';
import { Dialog } from '../parts/dialog.tsx';
import { notify, notifyFailure } from '../parts/notices.tsx';
import { InlineFailure, Loading } from '../parts/states.tsx';
import { Moment } from '../parts/time.tsx';
import { deliveriesQuery } from './queries.ts';
import { DeliveryMark, targetText } from './webhook-state.tsx';

interface DeliveriesProps {
  webhook: Webhook;
  missing: string | undefined;
  onClose: () => void;
}

export function Deliveries({ webhook: { id, name, url, paused }, missing, onClose }: DeliveriesProps) {
  const { data, error } = useQuery(deliveriesQuery(id));
  const queries = useQueryClient();
  const reason = missing ?? (paused ? 'The webhook is paused.' : undefined);
  const send = async (act: () => Promise<unknown>): Promise<void> => {
    try {
      await act();
      notify('The message is on its way');
    } catch (failure) {
      notifyFailure('The message was not sent', failure);
    }
    await queries.invalidateQueries({ queryKey: ['webhooks'] });
  };
  const test = (): Promise<unknown> => call('POST /api/v2/webhooks/:id/test', { params: { id } });
  const replay = (deliveryId: string): Promise<unknown> =>
    call('POST /api/v2/webhooks/:id/deliveries/:deliveryId/replay', { params: { id, deliveryId } });
  return (
    <Dialog
      title={`Deliveries of “${name || targetText(url)}”`}
      isOpen
      isWide
      onClose={onClose}
      foot={
        <Button reason={reason} onClick={() => void send(test)}>
          Send a test
        </Button>
      }
    >
      {error !== null && <InlineFailure error={error} />}
      {data === undefined && error === null && <Loading rows={3} />}
      {data?.length === 0 && <p>It had none yet.</p>}
      {data !== undefined && data.length > 0 && (
        <SettingsTable
          label="Deliveries"
          columns={['Time', 'Event', 'State', 'Attempts', 'What came of it']}
          hasActions
        >
          {data.map((delivery) => (
            <tr key={delivery.id}>
              <td>
                <Moment at={delivery.created_at} />
              </td>
              <td>{delivery.payload.type}</td>
              <td>
                <DeliveryMark status={delivery.status} />
              </td>
              <td className={styles['quiet']}>{delivery.attempts}</td>
              <td title={outcomeText(delivery)}>
                <div className={classNames(styles['quiet'], styles['text'])}>
                  <Outcome delivery={delivery} />
                </div>
              </td>
              <td>
                <Button look="quiet" reason={reason} onClick={() => void send(() => replay(delivery.id))}>
                  {delivery.status === 'waiting' ? 'Send now' : 'Replay'}
                </Button>
              </td>
            </tr>
          ))}
        </SettingsTable>
      )}
    </Dialog>
  );
}

const outcomeText = ({ problem, response_status: status }: WebhookDelivery): string =>
  problem || (status === null ? '' : `status ${status}`);

const Outcome = ({ delivery }: { delivery: WebhookDelivery }) => (
  <>
    {outcomeText(delivery)}
    {delivery.attempts > 0 && delivery.next_attempt_at !== null && (
      <>
        {' · again '}
        <Moment at={delivery.next_attempt_at} />
      </>
    )}
  </>
);
