/** The input: what goes along, the text, which model, what it cost so far, send and stop. */
import { addIcon, closeIcon, stopIcon } from '@jupyterlab/ui-components';
import { useEffect, useLayoutEffect, useRef } from 'react';

import { fileName } from '../models/tool_words';
import { IconButton } from './icon_button';
import { ModePicker } from './mode_picker';
import type { ModePickerProps } from './mode_picker';
import { ModelPicker } from './model_picker';
import { useUi } from './ui_context';

export interface Chip {
  path: string;
  remove: () => void;
}

export interface ComposerProps extends React.ComponentProps<typeof ModelPicker>, ModePickerProps {
  text: string;
  setText: (text: string) => void;
  send: () => void;
  /** Send it for when the answer under way is done. */
  sendAfter: () => void;
  stop: () => void;
  editLast: () => void;
  /** Go to the request that waits for an answer. */
  answerWaiting: () => void;
  running: boolean;
  online: boolean;
  waitingForPerson: boolean;
  chips: readonly Chip[];
  /** The notebook in front, when it does not go along yet. */
  offered: { path: string; add: () => void } | null;
  usage: { inputTokens: number; outputTokens: number; costUsd?: number };
  /** Counts up whenever the input is to have the focus. */
  focusRequest: number;
}

export function Composer(props: ComposerProps): JSX.Element {
  const {
    text,
    setText,
    send,
    sendAfter,
    stop,
    editLast,
    answerWaiting,
    running,
    online,
    chips,
    offered,
    usage
  } = props;
  const { trans } = useUi();
  const hasText = text.trim() !== '';
  const onKeyDown = (event: React.KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing) {
      return;
    }
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      if (hasText && event.altKey) {
        sendAfter();
      } else if (hasText) {
        send();
      }
    } else if (event.key === 'ArrowUp' && text === '') {
      event.preventDefault();
      if (props.waitingForPerson) {
        answerWaiting();
      } else {
        editLast();
      }
    }
  };
  return (
    <div className="onyx-Composer" data-onyx="composer">
      {(chips.length > 0 || offered) && <Chips chips={chips} offered={offered} />}
      <div className="onyx-Composer-box">
        <GrowingInput
          value={text}
          placeholder={
            props.waitingForPerson ? trans.__('Onyx waits for your answer (↑)') : trans.__('Ask Onyx…')
          }
          focusRequest={props.focusRequest}
          onChange={setText}
          onKeyDown={onKeyDown}
        />
        <div className="onyx-Composer-bar">
          <ModePicker mode={props.mode} chooseMode={props.chooseMode} />
          <ModelPicker {...props} />
          {running && hasText ? (
            <span className="onyx-Usage">
              <button
                type="button"
                className="onyx-Link"
                data-onyx="send-after"
                title={trans.__('Send it for when this answer is done (Alt+Enter)')}
                onClick={sendAfter}
              >
                {trans.__('After this answer')}
              </button>
            </span>
          ) : (
            <UsageLine {...usage} />
          )}
          {running && (
            <IconButton
              icon={stopIcon}
              label={trans.__('Stop')}
              hook="stop"
              disabled={!online}
              onClick={stop}
            />
          )}
          {(!running || hasText) && (
            <button
              type="button"
              className="onyx-Send"
              data-onyx="send"
              disabled={!hasText}
              title={
                running
                  ? trans.__('Send: taken into account after the current step (Enter)')
                  : trans.__('Send (Enter)')
              }
              aria-label={trans.__('Send')}
              onClick={send}
            >
              ↑
            </button>
          )}
        </div>
      </div>
    </div>
  );
}

function Chips({ chips, offered }: Pick<ComposerProps, 'chips' | 'offered'>): JSX.Element {
  const { trans } = useUi();
  return (
    <div className="onyx-Chips" aria-label={trans.__('Goes along with your message')} role="group">
      {chips.map(chip => (
        <span key={chip.path} className="onyx-Chip" data-onyx="chip" title={chip.path}>
          <span className="onyx-Chip-name">{fileName(chip.path)}</span>
          <IconButton
            icon={closeIcon}
            label={trans.__('Leave out %1', fileName(chip.path))}
            onClick={chip.remove}
          />
        </span>
      ))}
      {offered && (
        <button
          type="button"
          className="onyx-Chip onyx-mod-offer"
          data-onyx="offer-chip"
          onClick={offered.add}
        >
          <addIcon.react tag="span" className="onyx-Icon" />
          <span className="onyx-Chip-name">{fileName(offered.path)}</span>
        </button>
      )}
    </div>
  );
}

interface GrowingInputProps {
  value: string;
  placeholder: string;
  focusRequest: number;
  onChange: (text: string) => void;
  onKeyDown: (event: React.KeyboardEvent<HTMLTextAreaElement>) => void;
}

/** As high as its text, up to a third of a screen. */
function GrowingInput(props: GrowingInputProps): JSX.Element {
  const { value, placeholder, focusRequest, onChange, onKeyDown } = props;
  const node = useRef<HTMLTextAreaElement>(null);
  const fit = () => {
    const area = node.current!;
    area.style.height = 'auto';
    area.style.height = `${area.scrollHeight}px`;
  };
  useLayoutEffect(fit, [value]);
  useEffect(() => {
    // Text wraps anew when the sidebar gets another width, or a width at all.
    let width = 0;
    const observer = new ResizeObserver(([entry]) => {
      if (entry.contentRect.width !== width) {
        width = entry.contentRect.width;
        fit();
      }
    });
    observer.observe(node.current!);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (focusRequest > 0) {
      const area = node.current!;
      area.focus();
      area.setSelectionRange(area.value.length, area.value.length);
    }
  }, [focusRequest]);
  return (
    <textarea
      ref={node}
      className="onyx-Composer-input"
      data-onyx="input"
      aria-label={placeholder}
      rows={1}
      value={value}
      placeholder={placeholder}
      onChange={event => onChange(event.target.value)}
      onKeyDown={onKeyDown}
    />
  );
}

function UsageLine({ inputTokens, outputTokens, costUsd }: ComposerProps['usage']): JSX.Element {
  const { trans } = useUi();
  const total = inputTokens + outputTokens;
  const parts = total > 0 ? [compact(total)] : [];
  if (costUsd !== undefined && costUsd > 0) {
    parts.push(costUsd < 0.01 ? '< $0.01' : `$${costUsd.toFixed(2)}`);
  }
  return (
    <span
      className="onyx-Usage"
      data-onyx="usage"
      title={
        total > 0 ? trans.__('This session: %1 tokens in, %2 out', inputTokens, outputTokens) : undefined
      }
    >
      {parts.join(' · ')}
    </span>
  );
}

function compact(count: number): string {
  return count < 1000 ? String(count) : `${(count / 1000).toFixed(count < 10_000 ? 1 : 0)}k`;
}
