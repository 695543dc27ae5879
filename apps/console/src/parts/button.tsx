import type { ComponentProps, ReactNode } from 'react';

import styles from './button.module.css';
import { classNames } from './class-names.ts';

export type ButtonLook = 'primary' | 'plain' | 'quiet' | 'danger';

interface ButtonProps extends Omit<ComponentProps<'button'>, 'disabled'> {
  look?: ButtonLook;
  /** Reason why the button is disabled. The button stays focusable and shows the reason. */
  reason?: string | undefined;
  isBusy?: boolean;
  children: ReactNode;
}

export const buttonClass = (look: ButtonLook = 'plain', isIcon = false): string =>
  classNames(styles['button'], styles[look], isIcon && styles['icon']);

export function Button({ look = 'plain', reason, isBusy = false, onClick, className, ...rest }: ButtonProps) {
  const isOff = reason !== undefined || isBusy;
  return (
    <button
      type="button"
      {...rest}
      className={classNames(buttonClass(look), className)}
      aria-disabled={isOff}
      aria-busy={isBusy}
      title={reason ?? rest.title}
      onClick={(event) => {
        if (isOff) event.preventDefault();
        else onClick?.(event);
      }}
    />
  );
}

interface IconButtonProps extends Omit<ButtonProps, 'children'> {
  label: string;
  children: ReactNode;
}

export const IconButton = ({ label, look = 'quiet', ...rest }: IconButtonProps) => (
  <Button {...rest} look={look} aria-label={label} title={rest.reason ?? label} className={styles['icon']} />
);
