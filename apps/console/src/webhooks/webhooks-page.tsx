import type { Webhook, WebhookDelivery } from '@phalanx/protocol';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { SecretDialog } from '../access/secret-dialog.tsx';
import { SettingsPage } from '../access/settings-page.tsx';
import { SettingsTable } from '../access/settings-table.tsx';
import { call } from '../api/call.ts';
import { useMe, useMissingScope } from '../api/me.ts';
import styles from '../jobs/jobs.module.css';
import { Button } from '../parts/button.tsx';
import { classNames } from '../parts/class-names.ts';
import { ActionDialog, Dialog } from '../parts/dialog.tsx';
import { notify, notifyFailure } from '../parts/notices.tsx';
import { Failure, Loading, InlineFailure } from '../parts/states.tsx';
import {
  webhooksQuery,
  deliveriesQuery,
  addressText,
  healthText,
  isMail,
  targetText,
  WebhookMark,
  DeliveryMark,
} from './webhook.tsx';
import { type NewKey, WebhookDialog } from './webhook-dialog.tsx';
import { RemovalButton } from '../parts/removal-button.tsx';
import { Moment } from '../parts/time.tsx';

type Open = { part: 'new' } | { part: 'deliveries' | 'change' | 'rotate'; webhook: Webhook };

export function WebhooksPage() {
  const { data, error, refetch } = useQuery(webhooksQuery);
  const missing = useMissingScope('edit');
  const [open, setOpen] = useState<Open>();
  const [key, setKey] = useState<NewKey>();
  const close = (): void => setOpen(undefined);
  const show = (made: NewKey): void => {
    close();
    // E-mails have none.
    if (!isMail(made.webhook.url)) setKey(made);
  };
  return (
    <SettingsPage
      part="Webhooks"
      actions={
        <Button look="primary" reason={missing} onClick={() => setOpen({ part: 'new' })}>
          New webhook…
        </Button>
      }
    >
      {data === undefined &&
        (error === null ? <Loading rows={3} /> : <Failure error={error} onRetry={() => void refetch()} />)}
      {data?.length === 0 && (
        <p className={styles['quiet']}>
          A webhook sends a message to another service, or an e-mail, when a run ends, or a phone is away for
          long.
        </p>
      )}
      {data !== undefined && data.length > 0 && (
        <SettingsTable label="List of webhooks" columns={['Name', 'State', 'Tells of', 'Address']} hasActions>
          {data.map((webhook) => (
            <Row key={webhook.id} webhook={webhook} missing={missing} onOpen={setOpen} />
          ))}
        </SettingsTable>
      )}
      {open?.part === 'new' && <WebhookDialog onMade={show} onClose={close} />}
      {open?.part === 'change' && <WebhookDialog webhook={open.webhook} onMade={show} onClose={close} />}
      {open?.part === 'deliveries' && <Deliveries webhook={open.webhook} missing={missing} onClose={close} />}
      {open?.part === 'rotate' && <Rotate webhook={open.webhook} onMade={show} onClose={close} />}
      {key !== undefined && <ShownKey made={key} onClose={() => setKey(undefined)} />}
    </SettingsPage>
  );
}

interface RowProps {
  webhook: Webhook;
  missing: string | undefined;
  onOpen: (open: Open) => void;
}

function Row({ webhook, missing, onOpen }: RowProps) {
  const { id, name, url, user, events, paused } = webhook;
  const queries = useQueryClient();
  const me = useMe();
  const pause = async (): Promise<void> => {
    try {
      await call('PATCH /api/v2/webhooks/:id', { params: { id }, body: { paused: !paused } });
      notify(paused ? 'The webhook goes on' : 'The webhook is paused');
    } catch (error) {
      notifyFailure('The webhook was not changed', error);
    }
    await queries.invalidateQueries({ queryKey: ['webhooks'] });
  };
  const isOthers = me !== undefined && me.user.id !== user.id;
  return (
    <tr>
      <td title={name}>
        {name || targetText(url)}
        {isOthers && <span className={styles['quiet']}> of {user.name || 'another user'}</span>}
      </td>
      <td title={healthText(webhook)}>
        <WebhookMark health={webhook.health} /> <span className={styles['quiet']}>{healthText(webhook)}</span>
      </td>
      <td title={events.join(', ')}>
        <div className={classNames(styles['quiet'], styles['text'])}>{events.join(', ')}</div>
      </td>
      <td title={url}>
        <div className={classNames(styles['quiet'], styles['text'])}>{addressText(url)}</div>
      </td>
      <td className={styles['end']}>
        <Button look="quiet" onClick={() => onOpen({ part: 'deliveries', webhook })}>
          Deliveries
        </Button>
        <Button look="quiet" reason={missing} onClick={() => onOpen({ part: 'change', webhook })}>
          Change…
        </Button>
        <Button look="quiet" reason={missing} onClick={() => void pause()}>
          {paused ? 'Resume' : 'Pause'}
        </Button>
        {!isMail(url) && (
          <Button look="quiet" reason={missing} onClick={() => onOpen({ part: 'rotate', webhook })}>
            New secret…
          </Button>
        )}
        <Delete webhook={webhook} missing={missing} />
      </td>
    </tr>
  );
}

interface RotateProps {
  webhook: Webhook;
  onMade: (made: NewKey) => void;
  onClose: () => void;
}

function Rotate({ webhook: { id }, onMade, onClose }: RotateProps) {
  const queries = useQueryClient();
  const rotate = async (): Promise<void> => {
    try {
      onMade(await call('POST /api/v2/webhooks/:id/secret', { params: { id } }));
      await queries.invalidateQueries({ queryKey: ['webhooks'] });
    } catch (error) {
      notifyFailure('The secret was not changed', error);
      onClose();
    }
  };
  return (
    <ActionDialog title="New secret?" action="Make it" onAct={rotate} onClose={onClose}>
      <p>For 24 hours messages are signed with the new secret and with the one before.</p>
    </ActionDialog>
  );
}

function Delete({ webhook, missing }: { webhook: Webhook; missing: string | undefined }) {
  const { id, name, url } = webhook;
  const queries = useQueryClient();
  const remove = async (): Promise<void> => {
    await call('DELETE /api/v2/webhooks/:id', { params: { id } });
    notify('The webhook is deleted');
    await queries.invalidateQueries({ queryKey: ['webhooks'] });
  };
  return (
    <RemovalButton name={`“${name || targetText(url)}”`} reason={missing} onRemove={remove}>
      <p>What still waits is not sent. This cannot be undone.</p>
    </RemovalButton>
  );
}

/** The secret of `v1`, once; of `v1a` the public key, which is no secret. */
const ShownKey = ({ made: { webhook, secret }, onClose }: { made: NewKey; onClose: () => void }) => (
  <SecretDialog
    title={secret === null ? 'Public key of the webhook' : 'Secret of the webhook'}
    what={secret === null ? 'public key' : 'secret'}
    secret={secret ?? webhook.public_key ?? ''}
    onClose={onClose}
  >
    {secret === null
      ? 'The receiver checks signatures with it.'
      : 'The receiver checks signatures with it. Copy it now: it is shown this once.'}
  </SecretDialog>
);

interface DeliveriesProps {
  webhook: Webhook;
  missing: string | undefined;
  onClose: () => void;
}

function Deliveries({ webhook: { id, name, url, paused }, missing, onClose }: DeliveriesProps) {
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
