import { type ComponentProps, useRef } from 'react';

import { Button } from './button.tsx';
import styles from './file-input.module.css';

interface FileInputProps extends Omit<ComponentProps<'input'>, 'type' | 'value' | 'onChange'> {
  file: File | undefined;
  onChange: (file: File | undefined) => void;
}

/**
 * File picker for one file. The invisible native input covers the whole control, so that it handles drops, clicks and
 * keys.
 */
export function FileInput({ file, onChange, ...rest }: FileInputProps) {
  const input = useRef<HTMLInputElement>(null);
  const clear = (): void => {
    if (input.current !== null) input.current.value = '';
    onChange(undefined);
    input.current?.focus();
  };
  return (
    <div className={styles['line']}>
      <div className={styles['choice']}>
        <input
          {...rest}
          ref={input}
          type="file"
          className={styles['input']}
          onChange={({ target }) => onChange(target.files?.[0])}
        />
        <span className={styles['button']} aria-hidden="true">
          Choose a file…
        </span>
        <span className={styles['name']} title={file?.name}>
          {file?.name ?? 'No file'}
        </span>
      </div>
      {file !== undefined && (
        <Button look="quiet" aria-label={`Clear ${file.name}`} onClick={clear}>
          Clear
        </Button>
      )}
    </div>
  );
}
