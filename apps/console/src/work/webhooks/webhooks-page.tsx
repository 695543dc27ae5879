import type { Webhook, WebhookDelivery } from '@phalanx/protocol';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { SecretDialog } from '../../http/access/secret-dialog.tsx';
import { SettingsPage } from '../../http/access/settings-page.tsx';
import { call } from '../../api/call.ts';
import { useMe, useMissingScope } from '../../api/me.ts';
import styles from '../../http/access/settings.module.css';
import { Button } from '../../parts/button.tsx';
import { ActionDialog, Dialog } from '../../parts/dialog.tsx';
import { notify, notifyFailure } from '../../parts/notices.tsx';
import { Failure, Loading, InlineFailure } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import {
  webhooksQuery,
  deliveriesQuery,
  healthText,
  isSigned,
  shownAddress,
  targetText,
  WebhookMark,
  DeliveryMark,
} from './webhook.tsx';
import { type NewKey, WebhookDialog } from './webhook-dialog.tsx';
import { RemovalButton } from '../../parts/removal-button.tsx';
import { Moment } from '../../parts/time.tsx';

type Open = { part: 'new' } | { part: 'deliveries' | 'change' | 'rotate'; webhook: Webhook };

export function WebhooksPage() {
  const { data, error, refetch } = useQuery(webhooksQuery);
  const missing = useMissingScope('edit');
  const [open, setOpen] = useState<Open>();
  const [key, setKey] = useState<NewKey>();
  const close = (): void => setOpen(undefined);
  const show = (made: NewKey): void => {
    close();
    if (isSigned(made.webhook)) setKey(made);
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
          A webhook sends a message to a chat, an e-mail address or another service, for example when a run
          ends or a phone is offline for a while.
        </p>
      )}
      {data !== undefined && data.length > 0 && (
        <Table
          label="List of webhooks"
          columns={columns}
          rows={data}
          keyOf={({ id }) => id}
          actions={(webhook) => <Actions webhook={webhook} missing={missing} onOpen={setOpen} />}
        />
      )}
      {open?.part === 'new' && <WebhookDialog onMade={show} onClose={close} />}
      {open?.part === 'change' && <WebhookDialog webhook={open.webhook} onMade={show} onClose={close} />}
      {open?.part === 'deliveries' && <Deliveries webhook={open.webhook} missing={missing} onClose={close} />}
      {open?.part === 'rotate' && <Rotate webhook={open.webhook} onMade={show} onClose={close} />}
      {key !== undefined && <ShownKey made={key} onClose={() => setKey(undefined)} />}
    </SettingsPage>
  );
}

const columns: readonly Column<Webhook>[] = [
  {
    header: 'Name',
    width: 'grow',
    minimum: 140,
    isMain: true,
    content: (webhook) => <Name webhook={webhook} />,
  },
  {
    header: 'State',
    width: 'grow',
    minimum: 140,
    speaksForItself: true,
    content: (webhook) => (
      <>
        <WebhookMark health={webhook.health} /> <span className={styles['quiet']}>{healthText(webhook)}</span>
      </>
    ),
  },
  { header: 'Events', width: 'grow', text: ({ events }) => events.join(', ') },
  { header: 'Address', width: 'grow', minimum: 140, text: shownAddress },
];

function Name({ webhook: { name, url, user } }: { webhook: Webhook }) {
  const me = useMe();
  const isOthers = me !== undefined && me.user.id !== user.id;
  return (
    <>
      {name || targetText(url)}
      {isOthers && <span className={styles['quiet']}> of {user.name || 'another user'}</span>}
    </>
  );
}

interface ActionsProps {
  webhook: Webhook;
  missing: string | undefined;
  onOpen: (open: Open) => void;
}

function Actions({ webhook, missing, onOpen }: ActionsProps) {
  const { id, paused } = webhook;
  const queries = useQueryClient();
  const pause = async (): Promise<void> => {
    try {
      await call('PATCH /api/v2/webhooks/:id', { params: { id }, body: { paused: !paused } });
      notify(paused ? 'The webhook was resumed' : 'The webhook was paused');
    } catch (error) {
      notifyFailure('The webhook was not changed', error);
    }
    await queries.invalidateQueries({ queryKey: ['webhooks'] });
  };
  return (
    <>
      <Button look="quiet" onClick={() => onOpen({ part: 'deliveries', webhook })}>
        Deliveries
      </Button>
      <Button look="quiet" reason={missing} onClick={() => onOpen({ part: 'change', webhook })}>
        Edit…
      </Button>
      <Button look="quiet" reason={missing} onClick={() => void pause()}>
        {paused ? 'Resume' : 'Pause'}
      </Button>
      {isSigned(webhook) && (
        <Button look="quiet" reason={missing} onClick={() => onOpen({ part: 'rotate', webhook })}>
          New secret…
        </Button>
      )}
      <Delete webhook={webhook} missing={missing} />
    </>
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
    <ActionDialog title="New secret?" action="Create" onAct={rotate} onClose={onClose}>
      <p>For 24 hours, messages are signed with both the new and the previous secret.</p>
    </ActionDialog>
  );
}

function Delete({ webhook, missing }: { webhook: Webhook; missing: string | undefined }) {
  const { id, name, url } = webhook;
  const queries = useQueryClient();
  const remove = async (): Promise<void> => {
    await call('DELETE /api/v2/webhooks/:id', { params: { id } });
    notify('The webhook was deleted');
    await queries.invalidateQueries({ queryKey: ['webhooks'] });
  };
  return (
    <RemovalButton name={`“${name || targetText(url)}”`} reason={missing} onRemove={remove}>
      <p>Waiting messages are not sent. This cannot be undone.</p>
    </RemovalButton>
  );
}

/** Shows the secret of `v1`, for the only time, or the public key of `v1a`, which is not secret. */
const ShownKey = ({ made: { webhook, secret }, onClose }: { made: NewKey; onClose: () => void }) => (
  <SecretDialog
    title={secret === null ? 'Public key of the webhook' : 'Secret of the webhook'}
    what={secret === null ? 'public key' : 'secret'}
    secret={secret ?? webhook.public_key ?? ''}
    onClose={onClose}
  >
    {secret === null
      ? 'The receiver checks signatures with it.'
      : 'The receiver checks signatures with it. Copy it now. It is shown only once.'}
  </SecretDialog>
);

const deliveryColumns: readonly Column<WebhookDelivery>[] = [
  { header: 'Time', width: 'fit', isMain: true, content: ({ created_at: at }) => <Moment at={at} /> },
  { header: 'Event', width: 'fit', text: ({ payload }) => payload.type },
  {
    header: 'State',
    width: 'fit',
    speaksForItself: true,
    content: ({ status }) => <DeliveryMark status={status} />,
  },
  { header: 'Attempts', width: 'fit', isNumber: true, text: ({ attempts }) => String(attempts) },
  {
    header: 'Result',
    width: 'grow',
    minimum: 140,
    content: (delivery) => <Outcome delivery={delivery} />,
  },
];

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
      notify('The message is being sent');
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
      {data?.length === 0 && <p>No deliveries yet.</p>}
      {data !== undefined && data.length > 0 && (
        <Table
          label="Deliveries"
          columns={deliveryColumns}
          rows={data}
          keyOf={({ id: deliveryId }) => deliveryId}
          actions={({ id: deliveryId, status }) => (
            <Button look="quiet" reason={reason} onClick={() => void send(() => replay(deliveryId))}>
              {status === 'waiting' ? 'Send now' : 'Replay'}
            </Button>
          )}
        />
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
        {' · retry '}
        <Moment at={delivery.next_attempt_at} />
      </>
    )}
  </>
);
