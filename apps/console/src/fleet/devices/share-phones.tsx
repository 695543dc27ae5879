import type { Device, DeviceMember, Host } from '@phalanx/protocol';

import { MembersDialog } from '../../http/access/members-dialog.tsx';
import { call } from '../../api/call.ts';
import { useMissingScope } from '../../api/me.ts';
import { deviceName } from './device.tsx';

const roles = [
  { value: 'launch', label: 'can launch and touch' },
  { value: 'view', label: 'can view' },
] as const;

const notOwner = 'Only the owner shares phones.';
const all = { limit: 1000 };

const shown = ({ through, ...member }: DeviceMember, here: 'device' | 'host') => ({
  ...member,
  ...(through === null || through === here ? {} : { note: 'with all phones of its host' }),
});

export function ShareDevice({ device, onClose }: { device: Device; onClose: () => void }) {
  const { device_id: id, role } = device;
  const missing = useMissingScope('edit');
  return (
    <MembersDialog
      title={`Share ${deviceName(device)}`}
      queryKey={['devices', id]}
      roles={roles}
      reason={missing ?? (role === 'owner' ? undefined : notOwner)}
      list={async (signal) => {
        const input = { params: { id }, query: all };
        const { members } = await call('GET /api/v2/devices/:id/members', input, { signal });
        return members.map((member) => shown(member, 'device'));
      }}
      put={(userId, wanted) =>
        call('PUT /api/v2/devices/:id/members/:user_id', {
          params: { id, user_id: userId },
          body: { role: wanted },
        })
      }
      remove={(userId) =>
        call('DELETE /api/v2/devices/:id/members/:user_id', { params: { id, user_id: userId } })
      }
      onClose={onClose}
    />
  );
}

/** Shares all phones of a host, including future ones. */
export function ShareHost({ host: { id, name, role }, onClose }: { host: Host; onClose: () => void }) {
  const missing = useMissingScope('edit');
  return (
    <MembersDialog
      title={`Share all phones of ${name}`}
      queryKey={['hosts', id]}
      roles={roles}
      reason={missing ?? (role === 'owner' ? undefined : notOwner)}
      list={async (signal) => {
        const input = { params: { id }, query: all };
        const { members } = await call('GET /api/v2/hosts/:id/members', input, { signal });
        return members.map((member) => shown(member, 'host'));
      }}
      put={(userId, wanted) =>
        call('PUT /api/v2/hosts/:id/members/:user_id', {
          params: { id, user_id: userId },
          body: { role: wanted },
        })
      }
      remove={(userId) =>
        call('DELETE /api/v2/hosts/:id/members/:user_id', { params: { id, user_id: userId } })
      }
      onClose={onClose}
    />
  );
}
