import type { Project } from '@phalanx/protocol';

import { MembersDialog } from '../access/members-dialog.tsx';
import { call } from '../api/call.ts';
import { useMissingScope } from '../api/me.ts';

interface ShareProjectProps {
  project: Project;
  onClose: () => void;
}

export function ShareProject({ project: { id, name, role }, onClose }: ShareProjectProps) {
  const missing = useMissingScope('edit');
  return (
    <MembersDialog
      title={`Share ${name}`}
      queryKey={['project', id]}
      roles={[
        { value: 'shared_editor', label: 'may edit and launch' },
        { value: 'shared_viewer', label: 'may look' },
      ]}
      reason={missing ?? (role === 'owner' ? undefined : 'Only the owner shares a project.')}
      list={async (signal) => {
        const input = { params: { id }, query: { limit: 1000 } };
        return (await call('GET /api/v2/automation-project/:id/members', input, { signal })).members;
      }}
      put={(userId, wanted) =>
        call('PUT /api/v2/automation-project/:id/members/:user_id', {
          params: { id, user_id: userId },
          body: { role: wanted },
        })
      }
      remove={(userId) =>
        call('DELETE /api/v2/automation-project/:id/members/:user_id', { params: { id, user_id: userId } })
      }
      onClose={onClose}
    />
  );
}
