/** One value of onyx.json as a text field, written when it is left or with Enter. */
import { useEffect, useState } from 'react';

import { onEnterSubmit } from '../../shared/hooks';
import { useUi } from '../../shared/ui_context';
import type { Ui } from '../../shared/ui_context';
import type { Settings } from './settings';

interface SettingFieldProps {
  settings: Settings;
  /** The key's path in onyx.json. */
  name: string;
  label: string;
  placeholder: string;
  online: boolean;
  /** Whether it is a number that is not negative. */
  isNumber?: boolean;
}

export function SettingField(props: SettingFieldProps): JSX.Element {
  const { settings, name, label, placeholder, online, isNumber = false } = props;
  const { trans } = useUi();
  const kept = String(settings.value(name) ?? '');
  const [text, setText] = useState(kept);
  useEffect(() => setText(kept), [kept]);
  const locked = settings.lockedBy(name);
  const typed = text.trim();
  const isValid = !isNumber || typed === '' || (Number.isFinite(Number(typed)) && Number(typed) >= 0);
  const save = () => {
    if (isValid && typed !== kept) {
      void settings.set(name, typed === '' ? null : isNumber ? Number(typed) : typed);
    }
  };
  const note = locked
    ? lockedText(locked, trans)
    : isValid
      ? ''
      : trans.__('A number that is not negative, or nothing.');
  return (
    <form
      onSubmit={event => {
        event.preventDefault();
        save();
      }}
    >
      <label className="onyx-Setting-field">
        <span>{label}</span>
        <input
          className="onyx-Input"
          inputMode={isNumber ? 'decimal' : undefined}
          data-onyx="setting"
          data-key={name}
          placeholder={placeholder}
          aria-invalid={!isValid}
          disabled={!online || locked !== null}
          value={text}
          onChange={event => setText(event.target.value)}
          onKeyDown={onEnterSubmit}
          onBlur={save}
        />
        {note && <span className="onyx-Note">{note}</span>}
      </label>
    </form>
  );
}

export function lockedText(variable: string, trans: Ui['trans']): string {
  return trans.__('Set by the environment variable %1', variable);
}
