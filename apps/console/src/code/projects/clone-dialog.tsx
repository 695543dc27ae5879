import type { Project } from '@phalanx/protocol';
import { Link } from '@tanstack/react-router';

import { CopyButton } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import styles from './clone-dialog.module.css';

/** Git asks for the password of this user; the service reads the password alone. */
const gitUser = 'phalanx';

function cloneAddress({ clone_path: path }: Project): string {
  const url = new URL(path, window.location.origin);
  url.username = gitUser;
  return url.href;
}

/** The command that clones a project, and how git gets the token. */
export function CloneDialog({ project, onClose }: { project: Project; onClose: () => void }) {
  const command = `git clone ${cloneAddress(project)} ${folderOf(project)}`;
  return (
    <Dialog title={`Clone ${project.name}`} isOpen isWide onClose={onClose}>
      <div className={styles['command']}>
        <code>{command}</code>
        <CopyButton text={command} label="Copy the command" />
      </div>
      <p>
        Git asks for a password: give an API token. It needs the scope <code>read</code> to clone and{' '}
        <code>edit</code> to push, and no limit to phones or apps. You make tokens in the{' '}
        <Link to="/settings">settings</Link>.
      </p>
      <p>
        A clone has the committed files. A push to <code>main</code> becomes the saved files, unless there are
        uncommitted changes here or the code does not compile.
      </p>
    </Dialog>
  );
}

/** The name without what a shell or a file system takes for more than a name. */
const folderOf = ({ name, id }: Project): string =>
  name.replaceAll(/[^\p{L}\p{N}._-]+/gu, '-').replaceAll(/^[-.]+|[-.]+$/g, '') || id;
