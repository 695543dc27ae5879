import { createContext, useContext, useState, type ComponentProps } from 'react';

import { Button } from './button.tsx';

const Busy = createContext(false);

interface FormProps extends Omit<ComponentProps<'form'>, 'onSubmit' | 'action'> {
  onAct: () => unknown;
}

/** Fields with a submit button. Enter in a field clicks that button, so both ways pass its checks. */
export function Form({ onAct, ...rest }: FormProps) {
  const [isBusy, setBusy] = useState(false);
  const act = async (): Promise<void> => {
    setBusy(true);
    try {
      await onAct();
    } finally {
      setBusy(false);
    }
  };
  return (
    <Busy value={isBusy}>
      <form
        {...rest}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          // Popups are descendants of the form in React's tree, so their submit event would bubble up to it.
          event.stopPropagation();
          void act();
        }}
      />
    </Busy>
  );
}

/** Submits the form once, and ignores further clicks until the action has ended. */
export const SubmitButton = (props: Omit<ComponentProps<typeof Button>, 'type' | 'isBusy' | 'onClick'>) => (
  <Button {...props} type="submit" isBusy={useContext(Busy)} />
);
