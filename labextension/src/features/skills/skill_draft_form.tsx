/** Saves a notebook as a skill: the proposal as a form, with errors where they belong. */
import { useId } from 'react';
import type { ReactNode } from 'react';

import type { Draft, Place } from './skill_draft';
import { fileName } from '../../shared/short_text';
import { useUi } from '../../shared/ui_context';

interface SkillDraftFormProps {
  path: string;
  /** null while it is being proposed. */
  draft: Draft | null;
  hint: string | null;
  errors: Readonly<Record<string, string>>;
  /** Whether that place already has a skill of that name. */
  isTaken: boolean;
  isSaving: boolean;
  change: (values: Partial<Omit<Draft, 'path'>>) => void;
  save: () => void;
  cancel: () => void;
}

export function SkillDraftForm(props: SkillDraftFormProps): JSX.Element {
  const { path, draft, hint, errors, isTaken, isSaving, change, save, cancel } = props;
  const { trans } = useUi();
  return (
    <form
      className="onyx-Form onyx-Draft"
      data-onyx="skill-draft"
      noValidate
      onSubmit={event => {
        event.preventDefault();
        save();
      }}
    >
      <header className="onyx-Detail-head">
        <h3>{trans.__('Save %1 as a skill', fileName(path))}</h3>
        <p>
          {trans.__(
            'A copy without outputs, which you and Onyx can run with other values. The notebook stays as it is.'
          )}
        </p>
      </header>
      {errors[''] && (
        <div className="onyx-Problem" role="alert" data-onyx="draft-problem">
          {errors['']}
        </div>
      )}
      {!draft && !errors[''] && <p className="onyx-Note">{trans.__('Reading the notebook…')}</p>}
      {draft && (
        <>
          <DraftField
            name="name"
            label={trans.__('Name')}
            help={trans.__('Lowercase words joined by hyphens')}
            error={errors.name}
          >
            {field => (
              <input
                {...field}
                type="text"
                className="onyx-Input"
                spellCheck={false}
                autoFocus
                value={draft.name}
                onChange={event => change({ name: event.target.value })}
              />
            )}
          </DraftField>
          <DraftField
            name="description"
            label={trans.__('Description')}
            help={trans.__('What it does and when to use it. The agent decides by this text')}
            error={errors.description}
          >
            {field => (
              <textarea
                {...field}
                className="onyx-Input"
                rows={3}
                value={draft.description}
                onChange={event => change({ description: event.target.value })}
              />
            )}
          </DraftField>
          <DraftField
            name="parameters"
            label={trans.__('Parameters')}
            help={
              hint ??
              trans.__('One per line: `name: type = default  # what it means`. They replace these lines')
            }
            error={errors.parameters}
          >
            {field => (
              <textarea
                {...field}
                className="onyx-Input onyx-Input-code"
                rows={Math.min(14, Math.max(4, draft.parameters.split('\n').length + 1))}
                spellCheck={false}
                wrap="off"
                value={draft.parameters}
                onChange={event => change({ parameters: event.target.value })}
              />
            )}
          </DraftField>
          <DraftField name="place" label={trans.__('Place')} help="" error={errors.place}>
            {field => (
              <select
                {...field}
                className="onyx-Input"
                value={draft.place}
                onChange={event => change({ place: event.target.value as Place })}
              >
                <option value="workspace">{trans.__('The agent’s workspace')}</option>
                <option value="home">{trans.__('All agents')}</option>
                <option value="project">
                  {trans.__('This project (.onyx/skills, to be shared with it)')}
                </option>
              </select>
            )}
          </DraftField>
          {isTaken && (
            <label className="onyx-Field-line" data-onyx="draft-overwrite">
              <input
                type="checkbox"
                checked={draft.overwrite}
                onChange={event => change({ overwrite: event.target.checked, name: draft.name })}
              />
              {trans.__('Replace the skill of that name')}
            </label>
          )}
        </>
      )}
      <div className="onyx-Form-actions">
        <button
          type="submit"
          className="onyx-Button onyx-mod-accept"
          data-onyx="draft-save"
          disabled={!draft || isSaving || (isTaken && !draft.overwrite)}
        >
          {trans.__('Save skill')}
        </button>
        <button type="button" className="onyx-Button" data-onyx="draft-cancel" onClick={cancel}>
          {trans.__('Cancel')}
        </button>
      </div>
    </form>
  );
}

interface FieldAttributes {
  id: string;
  name: string;
  'aria-invalid': boolean;
  'aria-describedby': string;
}

interface DraftFieldProps {
  name: string;
  label: string;
  help: string;
  error: string | undefined;
  children: (field: FieldAttributes) => ReactNode;
}

function DraftField({ name, label, help, error, children }: DraftFieldProps): JSX.Element {
  const id = useId();
  return (
    <div className="onyx-Field" data-onyx="draft-field" data-field={name} data-error={error !== undefined}>
      <label htmlFor={id}>{label}</label>
      <div>
        {children({ id, name, 'aria-invalid': error !== undefined, 'aria-describedby': `${id}-help` })}
        <div id={`${id}-help`} className="onyx-Field-help">
          {help}
        </div>
      </div>
      {error !== undefined && (
        <div className="onyx-Field-error" role="alert" data-onyx="field-error">
          {error}
        </div>
      )}
    </div>
  );
}
