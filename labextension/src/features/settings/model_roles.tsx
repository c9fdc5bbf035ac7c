/** Which model does what, and the budget. */
import { useUi } from '../../shared/ui_context';
import type { Ui } from '../../shared/ui_context';
import { SettingField, lockedText } from './setting_field';
import type { Settings } from './settings';

interface ModelRolesProps {
  settings: Settings;
  /** The ids of all models that can be chosen. */
  models: readonly string[];
  online: boolean;
  back: () => void;
}

interface Role {
  key: string;
  label: string;
  about: string;
}

function rolesIn(trans: Ui['trans']): readonly Role[] {
  return [
    {
      key: 'runtime.defaultModel',
      label: trans.__('Default'),
      about: trans.__('Answers in the chat and in cells, unless you choose another one')
    },
    {
      key: 'runtime.consolidationModel',
      label: trans.__('Memory'),
      about: trans.__('Reviews conversations for what to remember')
    },
    {
      key: 'runtime.embeddingModel',
      label: trans.__('Search by meaning'),
      about: trans.__('Sends text to an API only if it is set; by default this machine does it')
    }
  ];
}

function limitsIn(trans: Ui['trans']): ReadonlyArray<{ key: string; label: string }> {
  return [
    { key: 'security.budget.dayUsd', label: trans.__('US dollars a day') },
    { key: 'security.budget.sessionUsd', label: trans.__('US dollars a conversation') },
    { key: 'security.budget.dayTokens', label: trans.__('Tokens a day') },
    { key: 'security.budget.sessionTokens', label: trans.__('Tokens a conversation') }
  ];
}

export function ModelRoles({ settings, models, online, back }: ModelRolesProps): JSX.Element {
  const { trans } = useUi();
  return (
    <>
      <header className="onyx-Detail-head">
        <button type="button" className="onyx-Link onyx-Detail-back" onClick={back}>
          {trans.__('← All providers')}
        </button>
        <h3>{trans.__('Models and budget')}</h3>
        <p>
          {trans.__(
            'A role without a model of its own uses the default. Changes are written to onyx.json and apply to the next answer.'
          )}
        </p>
      </header>
      <section className="onyx-Setting" aria-label={trans.__('Models by role')}>
        <h4>{trans.__('Models by role')}</h4>
        {rolesIn(trans).map(role => (
          <RoleRow key={role.key} role={role} {...{ settings, models, online }} />
        ))}
      </section>
      <section className="onyx-Setting" aria-label={trans.__('Budget')}>
        <h4>{trans.__('Budget')}</h4>
        <p className="onyx-Note">
          {trans.__(
            'Onyx warns at 80 % and stops at 100 %. 0 allows no paid call; empty means no limit. A model whose price is unknown counts by its tokens only.'
          )}
        </p>
        {limitsIn(trans).map(({ key, label }) => (
          <SettingField
            key={key}
            name={key}
            label={label}
            placeholder={trans.__('No limit')}
            isNumber
            {...{ settings, online }}
          />
        ))}
      </section>
    </>
  );
}

function RoleRow(props: {
  role: Role;
  settings: Settings;
  models: readonly string[];
  online: boolean;
}): JSX.Element {
  const { role, settings, models, online } = props;
  const { trans } = useUi();
  const value = settings.value(role.key);
  const chosen = typeof value === 'string' ? value : '';
  const locked = settings.lockedBy(role.key);
  const choices = chosen && !models.includes(chosen) ? [chosen, ...models] : models;
  return (
    <label className="onyx-Setting-field">
      <span>{role.label}</span>
      <select
        className="onyx-Select"
        data-onyx="role"
        data-key={role.key}
        disabled={!online || locked !== null}
        value={chosen}
        onChange={event => void settings.set(role.key, event.target.value || null)}
      >
        <option value="">
          {role.key === 'runtime.defaultModel' ? trans.__('Chosen by Onyx') : trans.__('Default')}
        </option>
        {choices.map(id => (
          <option key={id} value={id}>
            {id}
          </option>
        ))}
      </select>
      <span className="onyx-Note">{locked ? lockedText(locked, trans) : role.about}</span>
    </label>
  );
}
