import { createContext, useContext, useState, type ComponentProps } from 'react';

import { Button } from './button.tsx';

const Busy = createContext(false);

interface FormProps extends Omit<ComponentProps<'form'>, 'onSubmit' | 'action'> {
  onAct: () => unknown;
}

/** Fields and the button that does something with them. Enter in a field clicks that button, so both ways have its guard. */
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
          // Popups of a form are below it in React's tree, so their submit would bubble up to it.
          event.stopPropagation();
          void act();
        }}
      />
    </Busy>
  );
}

/** Does what its form is for, and nothing else until that has ended. */
export const SubmitButton = (props: Omit<ComponentProps<typeof Button>, 'type' | 'isBusy' | 'onClick'>) => (
  <Button {...props} type="submit" isBusy={useContext(Busy)} />
);
