/** A tool call as one line that opens on a click: its input and its output. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { checkIcon, closeIcon } from '@jupyterlab/ui-components';
import { memo, useId, useMemo, useState } from 'react';

import type { ToolCall } from './conversation';
import { answerOf, cellOf, failureOf, fileOf, formatDuration, memoryOf, toolLine } from './tool_words';
import type { AttachmentInfo } from '../../protocol/wire';
import { ApprovalDetails, ArgumentList } from '../approvals/approval_details';
import { useNow } from '../../shared/hooks';
import { FoldLine } from '../../shared/fold_line';
import { useUi } from '../../shared/ui_context';
import { VisibleText } from '../../shared/visible_text';

export const ToolCard = memo(function ToolCard({ call }: { call: ToolCall }): JSX.Element {
  const { trans } = useUi();
  const [isOpen, setIsOpen] = useState(false);
  const bodyId = useId();
  const { verb, object, isCode } = toolLine(call, trans);
  const images = call.attachments.filter(attachment => attachment.type === 'image');
  const note = noteOf(call, trans);
  return (
    <div className="onyx-Tool" data-onyx="tool-card" data-tool={call.tool} data-status={call.status}>
      <FoldLine {...{ isOpen, setIsOpen, bodyId }}>
        <span className="onyx-Tool-words">
          {verb}{' '}
          {isCode ? (
            <code>
              <VisibleText text={object} />
            </code>
          ) : (
            <span>
              <VisibleText text={object} />
            </span>
          )}
        </span>
        <ToolState call={call} />
      </FoldLine>
      {note && !isOpen && (
        <div className="onyx-Tool-note" data-onyx="tool-note">
          <VisibleText text={note} />
        </div>
      )}
      {images.length > 0 && !isOpen && <Images images={images} small />}
      <div id={bodyId} hidden={!isOpen} className="onyx-Tool-body">
        {isOpen && <ToolBody call={call} images={images} />}
      </div>
    </div>
  );
});

function ToolState({ call }: { call: ToolCall }): JSX.Element {
  const { trans } = useUi();
  const words: Record<ToolCall['status'], string> = {
    running: trans.__('running'),
    waiting: trans.__('waiting for you'),
    ok: trans.__('done'),
    failed: trans.__('failed'),
    skipped: trans.__('skipped'),
    denied: call.decision?.decision === 'expired' ? trans.__('no answer') : trans.__('denied'),
    aborted: trans.__('stopped'),
    interrupted: trans.__('interrupted')
  };
  if (call.status === 'running') {
    return <Elapsed sinceMs={call.startedAtMs} label={words.running} />;
  }
  const Icon = call.status === 'ok' ? checkIcon : call.status === 'failed' ? closeIcon : null;
  return (
    <span className="onyx-Tool-state" aria-label={words[call.status]}>
      {Icon ? <Icon.react tag="span" className="onyx-Icon" /> : words[call.status]}
      {call.durationMs !== undefined && call.status !== 'denied' && (
        <span>{formatDuration(call.durationMs)}</span>
      )}
    </span>
  );
}

function Elapsed({ sinceMs, label }: { sinceMs?: number; label: string }): JSX.Element {
  const now = useNow(sinceMs !== undefined && Date.now() - sinceMs < 10_000 ? 200 : 1000);
  const elapsed = sinceMs === undefined ? '' : formatDuration(Math.max(0, now - sinceMs));
  return (
    <span className="onyx-Tool-state" aria-label={label}>
      <span className="onyx-Working" aria-hidden="true" />
      {elapsed}
    </span>
  );
}

function ToolBody({ call, images }: { call: ToolCall; images: AttachmentInfo[] }): JSX.Element {
  const { trans, toolResult } = useUi();
  const shown = useMemo(() => toolResult?.(call) ?? null, [toolResult, call]);
  return (
    <>
      {call.approval ? <ApprovalDetails approval={call.approval} /> : <ArgumentList values={call.input} />}
      {call.decision?.reason && (
        <div className="onyx-Where">
          <VisibleText text={trans.__('Denied: %1', call.decision.reason)} />
        </div>
      )}
      {shown}
      {call.output && !shown && (
        <pre
          className="onyx-Source onyx-mod-output"
          data-onyx="tool-output"
          aria-label={trans.__('Output')}
          tabIndex={0}
        >
          {call.output}
        </pre>
      )}
      <Images images={images} />
      <PlaceLink call={call} />
    </>
  );
}

/** A link from a call to its cell, else to the lines of memory, else to the file. */
function PlaceLink({ call }: { call: ToolCall }): JSX.Element | null {
  const { trans, showCell, openFile, openMemory } = useUi();
  const memory = memoryOf(call);
  const cell = cellOf(call);
  const file = fileOf(call);
  if (cell && showCell) {
    return (
      <PlaceButton
        hook="show-cell"
        label={trans.__('Show the cell')}
        go={() => showCell(cell.path, cell.cellId)}
      />
    );
  }
  if (memory && openMemory) {
    const label = memory.fact ? trans.__('Open the fact in memory') : trans.__('Open %1', memory.path);
    return <PlaceButton hook="open-memory" label={label} go={() => openMemory(memory)} />;
  }
  return file && openFile ? (
    <PlaceButton hook="open-file" label={trans.__('Open %1', file)} go={() => openFile(file)} />
  ) : null;
}

function PlaceButton(props: { hook: string; label: string; go: () => void }): JSX.Element {
  return (
    <button type="button" className="onyx-Link onyx-Tool-file" data-onyx={props.hook} onClick={props.go}>
      {props.label}
    </button>
  );
}

function Images({ images, small }: { images: AttachmentInfo[]; small?: boolean }): JSX.Element {
  return (
    <div className={small ? 'onyx-Images onyx-mod-small' : 'onyx-Images'}>
      {images.filter(isPicture).map((image, index) => (
        <img key={index} src={`data:${image.mimeType};base64,${image.data}`} alt={image.name ?? ''} />
      ))}
    </div>
  );
}

/** An SVG may carry scripts, but not inside an img; anything else that is not an image is not drawn. */
function isPicture(image: AttachmentInfo): boolean {
  return /^image\/(png|jpeg|gif|webp|svg\+xml)$/.test(image.mimeType);
}

/** The line below the card: its progress, why it failed, or what the user said. */
function noteOf(call: ToolCall, trans: TranslationBundle): string {
  switch (call.status) {
    case 'running':
      return call.progress ?? '';
    case 'failed':
      return failureOf(call);
    case 'denied':
      return call.decision?.decision === 'denied'
        ? trans.__('Denied: %1', call.decision.reason || trans.__('no reason given'))
        : '';
    case 'ok':
      return answerOf(call, trans);
    default:
      return '';
  }
}
