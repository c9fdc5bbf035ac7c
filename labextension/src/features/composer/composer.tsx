/** The input: attachments, the text, the model, the cost so far, send and stop. */
import { stopIcon } from '@jupyterlab/ui-components';
import { useEffect, useId, useRef, useState } from 'react';

import type { MentionSources } from './mentions';
import type { ContextItem } from '../../protocol/wire';
import { ContextChipRow } from './context_chips';
import type { ContextChipsProps } from './context_chips';
import { GrowingInput } from './growing_input';
import { IconButton } from '../../shared/icon_button';
import { MentionMenu, optionId } from './mention_menu';
import { ModePicker } from './mode_picker';
import type { ModePickerProps } from './mode_picker';
import { ModelPicker } from './model_picker';
import { ABOUT } from '../usage/usage_words';
import { useUi } from '../../shared/ui_context';
import { useMentions } from './use_mentions';

type ChipProps = Omit<ContextChipsProps, 'addMore'>;

export interface ComposerProps extends React.ComponentProps<typeof ModelPicker>, ModePickerProps, ChipProps {
  text: string;
  setText: (text: string) => void;
  send: () => void;
  /** Sends it once the answer in progress is done. */
  sendAfter: () => void;
  stop: () => void;
  /** The user has focused the empty input, and no answer is in progress. */
  expectInput: () => void;
  editLast: () => void;
  /** Goes to the request that waits for an answer. */
  answerWaiting: () => void;
  running: boolean;
  online: boolean;
  waitingForPerson: boolean;
  mentions: MentionSources;
  addContext: (item: ContextItem) => void;
  usage: { inputTokens: number; outputTokens: number; costUsd?: number; estimated?: boolean };
  /** Incremented whenever the input should get the focus. */
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
    expectInput,
    running,
    online,
    usage
  } = props;
  const { trans } = useUi();
  const input = useRef<HTMLTextAreaElement>(null);
  const listId = useId();
  const mentions = useMentions({ text, setText, input, sources: props.mentions, add: props.addContext });
  const hasText = text.trim() !== '';
  const [hasFocus, setHasFocus] = useState(false);
  const isAwaited = hasFocus && !hasText && !running && online;
  const model = props.chosen ?? props.standard;
  const notebook = props.chips.find(({ item }) => item.type === 'notebook')?.item.path;
  useEffect(() => {
    if (isAwaited && model !== null) {
      expectInput();
    }
  }, [isAwaited, model, notebook]);
  const onKeyDown = (event: React.KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing) {
      return;
    }
    if (mentions.onKey(event)) {
      event.preventDefault();
      event.stopPropagation();
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
      <ContextChipRow {...props} addMore={mentions.begin} />
      <div className="onyx-Composer-box" data-drop-words={trans.__('Drop to attach')}>
        {mentions.isOpen && <MentionMenu id={listId} mentions={mentions} />}
        <GrowingInput
          node={input}
          value={text}
          placeholder={
            props.waitingForPerson ? trans.__('Onyx is waiting for your answer (↑)') : trans.__('Ask Onyx…')
          }
          focusRequest={props.focusRequest}
          onChange={setText}
          onKeyDown={onKeyDown}
          onFocus={setHasFocus}
          onCaret={mentions.onCaret}
          list={
            mentions.isOpen
              ? { id: listId, active: mentions.active ? optionId(listId, mentions.active) : undefined }
              : null
          }
        />
        <div className="onyx-Composer-bar">
          <ModePicker {...props} />
          <ModelPicker {...props} />
          {running && hasText ? (
            <span className="onyx-Usage">
              <button
                type="button"
                className="onyx-Link"
                data-onyx="send-after"
                title={trans.__('Send after this answer is done (Alt+Enter)')}
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
                  ? trans.__('Send: considered after the current step (Enter)')
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

function UsageLine({ inputTokens, outputTokens, costUsd, estimated }: ComposerProps['usage']): JSX.Element {
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
      {estimated && ABOUT}
      {parts.join(' · ')}
    </span>
  );
}

function compact(count: number): string {
  return count < 1000 ? String(count) : `${(count / 1000).toFixed(count < 10_000 ? 1 : 0)}k`;
}
