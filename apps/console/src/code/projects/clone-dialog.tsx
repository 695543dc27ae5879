import type { Project } from '@phalanx/protocol';
import { Link } from '@tanstack/react-router';

import { CopyButton } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import styles from './clone-dialog.module.css';

/** User name that git asks a password for; the service ignores it and checks only the password. */
const gitUser = 'phalanx';

function cloneAddress({ clone_path: path }: Project): string {
  const url = new URL(path, window.location.origin);
  url.username = gitUser;
  return url.href;
}

/** Dialog with the command that clones a project, and the way to give git the token. */
export function CloneDialog({ project, onClose }: { project: Project; onClose: () => void }) {
  const command = `git clone ${cloneAddress(project)} ${folderOf(project)}`;
  return (
    <Dialog title={`Clone ${project.name}`} isOpen isWide onClose={onClose}>
      <div className={styles['command']}>
        <code>{command}</code>
        <CopyButton text={command} label="Copy the command" />
      </div>
      <p>
        When Git asks for a password, enter an API token. It needs the scope <code>read</code> to clone and{' '}
        <code>edit</code> to push, and must not be limited to phones or apps. You create tokens in the{' '}
        <Link to="/settings">settings</Link>.
      </p>
      <p>
        A clone contains the committed files. A push to <code>main</code> becomes the saved files, unless
        there are uncommitted changes here or the code does not compile.
      </p>
    </Dialog>
  );
}

/** Returns the project's name without characters that have a special meaning to a shell or a file system. */
const folderOf = ({ name, id }: Project): string =>
  name.replaceAll(/[^\p{L}\p{N}._-]+/gu, '-').replaceAll(/^[-.]+|[-.]+$/g, '') || id;
