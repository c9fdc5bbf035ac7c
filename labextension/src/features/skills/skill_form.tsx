/**
 * The form of a notebook skill, made from its parameters cell: defaults shown, comments as help, errors in
 * place.
 */
import { useEffect, useId, useMemo, useState } from 'react';
import type { FormEvent } from 'react';

import { initialForm, optionsOf, readForm, widgetOf } from './form_values';
import type { Filled, FilledForm } from './form_values';
import type { SkillField } from '../../protocol/wire';
import { useUi } from '../../shared/ui_context';

/** File names that begin with the text. */
export type CompletePath = (text: string) => Promise<readonly string[]>;

interface SkillFormProps {
  fields: readonly SkillField[];
  /** The initial contents: of an earlier run, else the cell's own. */
  filled: FilledForm | null;
  /** Where paths begin, in words. */
  place: string;
  /** Why it cannot run now; empty if it can. */
  blocked: string;
  isRunning: boolean;
  complete: CompletePath;
  run: (values: Record<string, unknown>) => void;
  stop: () => void;
}

export function SkillForm(props: SkillFormProps): JSX.Element {
  const { fields, filled, place, blocked, isRunning, complete, run, stop } = props;
  const { trans } = useUi();
  const [form, setForm] = useState(() => filled ?? initialForm(fields));
  const [wasTried, setWasTried] = useState(false);
  // A list that is read again has the same fields: what was typed stays.
  const known = JSON.stringify(fields);
  useEffect(() => {
    setForm(filled ?? initialForm(fields));
    setWasTried(false);
  }, [known, filled]);
  const { values, errors } = useMemo(() => readForm(fields, form, trans), [fields, form, trans]);
  const shownErrors = wasTried ? errors : {};
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setWasTried(true);
    const wrong = Object.keys(errors)[0];
    if (wrong !== undefined) {
      event.currentTarget.querySelector<HTMLElement>(`[name="${wrong}"]`)?.focus();
    } else if (!blocked && !isRunning) {
      run(values);
    }
  };
  const hasPaths = fields.some(field => field.type === 'path');
  return (
    <form className="onyx-Form" data-onyx="skill-form" onSubmit={submit} noValidate>
      {fields.map(field => (
        <FormField
          key={field.name}
          field={field}
          value={form[field.name] ?? ''}
          error={shownErrors[field.name]}
          complete={complete}
          change={value => setForm(now => ({ ...now, [field.name]: value }))}
        />
      ))}
      {fields.length === 0 && <p className="onyx-Form-none">{trans.__('It has no parameters.')}</p>}
      <div className="onyx-Form-actions">
        {isRunning ? (
          <button type="button" className="onyx-Button" data-onyx="skill-stop" onClick={stop}>
            {trans.__('Stop')}
          </button>
        ) : (
          <button
            type="submit"
            className="onyx-Button onyx-mod-accept"
            data-onyx="skill-run"
            disabled={blocked !== ''}
            title={blocked || undefined}
          >
            {trans.__('Run')}
          </button>
        )}
        <span className="onyx-Note">{blocked || (hasPaths ? place : '')}</span>
      </div>
    </form>
  );
}

interface FormFieldProps {
  field: SkillField;
  value: Filled;
  error: string | undefined;
  complete: CompletePath;
  change: (value: Filled) => void;
}

function FormField({ field, value, error, complete, change }: FormFieldProps): JSX.Element {
  const { trans } = useUi();
  const id = useId();
  const isCheckbox = widgetOf(field) === 'checkbox';
  return (
    <div className="onyx-Field" data-onyx="field" data-field={field.name} data-error={error !== undefined}>
      <label htmlFor={id}>
        <code>{field.name}</code>
        {field.required && <span className="onyx-Field-needed">{trans.__('required')}</span>}
      </label>
      <div className={isCheckbox ? 'onyx-Field-line' : undefined}>
        <FieldInput id={id} field={field} value={value} error={error} complete={complete} change={change} />
        {field.description && (
          <div id={`${id}-help`} className="onyx-Field-help">
            {field.description}
          </div>
        )}
      </div>
      {error !== undefined && (
        <div id={`${id}-error`} className="onyx-Field-error" role="alert" data-onyx="field-error">
          {error}
        </div>
      )}
    </div>
  );
}

function FieldInput(props: FormFieldProps & { id: string }): JSX.Element {
  const { id, field, value, error, complete, change } = props;
  const { trans } = useUi();
  const shared = {
    id,
    name: field.name,
    'aria-invalid': error !== undefined,
    'aria-describedby': [field.description && `${id}-help`, error && `${id}-error`].filter(Boolean).join(' ')
  };
  const widget = widgetOf(field);
  const text = String(value);
  const placeholder = field.hasDefault ? '' : (field.defaultText ?? '');
  switch (widget) {
    case 'checkbox':
      return (
        <input
          {...shared}
          type="checkbox"
          checked={value === true}
          onChange={event => change(event.target.checked)}
        />
      );
    case 'select':
      return (
        <select
          {...shared}
          className="onyx-Input"
          value={text}
          onChange={event => change(event.target.value)}
        >
          {optionsOf(field).map(option => (
            <option key={option} value={option}>
              {optionText(
                option,
                field.required ? trans.__('choose…') : trans.__('as it is'),
                trans.__('none')
              )}
            </option>
          ))}
        </select>
      );
    case 'path':
      return (
        <PathInput
          shared={shared}
          text={text}
          placeholder={placeholder}
          complete={complete}
          change={change}
        />
      );
    case 'json':
      return (
        <textarea
          {...shared}
          className="onyx-Input onyx-Input-code"
          rows={Math.min(6, Math.max(1, text.split('\n').length))}
          spellCheck={false}
          placeholder={
            placeholder || (field.type === 'array' ? trans.__('one, two, or a JSON list') : '{ … }')
          }
          value={text}
          onChange={event => change(event.target.value)}
        />
      );
    default:
      return (
        <input
          {...shared}
          type="text"
          inputMode={widget === 'number' ? 'decimal' : undefined}
          className="onyx-Input"
          placeholder={placeholder}
          autoComplete="off"
          value={text}
          onChange={event => change(event.target.value)}
        />
      );
  }
}

interface PathInputProps {
  shared: Record<string, unknown> & { id: string };
  text: string;
  placeholder: string;
  complete: CompletePath;
  change: (value: string) => void;
}

function PathInput({ shared, text, placeholder, complete, change }: PathInputProps): JSX.Element {
  const [names, setNames] = useState<readonly string[]>([]);
  const [isTyping, setIsTyping] = useState(false);
  useEffect(() => {
    if (!isTyping) {
      return;
    }
    let isCurrent = true;
    void complete(text).then(found => isCurrent && setNames(found));
    return () => {
      isCurrent = false;
    };
  }, [complete, text, isTyping]);
  return (
    <>
      <input
        {...shared}
        type="text"
        className="onyx-Input"
        list={`${shared.id}-names`}
        placeholder={placeholder}
        spellCheck={false}
        autoComplete="off"
        value={text}
        onFocus={() => setIsTyping(true)}
        onChange={event => change(event.target.value)}
      />
      <datalist id={`${shared.id}-names`}>
        {names.map(name => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}

/** An option in readable form: without the quotes of JSON. */
function optionText(option: string, nothing: string, none: string): string {
  if (option === '') {
    return nothing;
  }
  const value: unknown = JSON.parse(option);
  return value === null ? none : String(value);
}
