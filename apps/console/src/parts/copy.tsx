import { useState } from 'react';

import { IconButton } from './button.tsx';
import { Icon } from './icon.tsx';
import styles from './copy.module.css';
import { notifyFailure } from './notices.tsx';

/**
 * Copies a text. Plain HTTP on a host name of the local network is not a secure context, which leaves only the
 * deprecated API.
 */
export async function copyText(text: string): Promise<void> {
  if (window.isSecureContext) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  if (!isCopied) throw new Error('This browser does not allow the page to copy.');
}

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    try {
      await copyText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), 1500);
    } catch (error) {
      notifyFailure('Not copied', error);
    }
  };
  return (
    <IconButton label={isCopied ? 'Copied' : label} onClick={() => void copy()}>
      <Icon name={isCopied ? 'check' : 'copy'} size={14} />
    </IconButton>
  );
}

/** Text with a copy button, such as an ID. */
export const Copyable = ({ text, label }: { text: string; label: string }) => (
  <span className={styles['copyable']}>
    <code>{text}</code>
    <CopyButton text={text} label={label} />
  </span>
);
