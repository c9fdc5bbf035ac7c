/** The sidebar's content: connects the models to the components. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { Fragment, useCallback, useMemo } from 'react';

import type { AgentOptions } from '../acp/agent_options';
import { AgentOptionsView } from '../acp/agent_options_view';
import { Composer } from '../composer/composer';
import { EmptyState } from './empty_state';
import { GrantsPanel } from '../approvals/grants_panel';
import { Header } from './header';
import { useSignals } from '../../shared/hooks';
import { MessageList } from './message_list';
import { PinnedPlan } from './plan_view';
import { SessionListView } from '../sessions/session_list_view';
import { SessionProblem } from '../sessions/session_problem';
import { UiProvider } from '../../shared/ui_context';
import type { Ui } from '../../shared/ui_context';
import type { Assistant } from './assistant';
import { notebookItem } from './chat_model';
import type { ChatModel } from './chat_model';
import { cellRequest, cellRequestMode } from '../cell_actions/cell_requests';
import { asContextItem } from '../composer/context_items';
import { totalUsage, waitingCalls } from './conversation';
import type { Run, WhenBusy } from './conversation';
import type { Grants } from '../approvals/grants';
import type { LocalModels } from '../local_models/local_models';
import type { MentionSources } from '../composer/mentions';
import type { NotebookFront } from '../notebooks/notebook_front';
import type { Session } from './session';
import { MemoryActions } from '../memory/memory_actions';
import { noModelReason } from './no_model';
import type { ProjectInstructions } from '../project/project_instructions';
import type { SessionList } from '../sessions/session_list';
import type { SidebarPanels } from './sidebar_panels';
import type { TurnChanges } from '../review/turn_changes';
import { OF_FEATURE, openTurn } from './view_state';
import type { ViewState } from './view_state';
import type { SocketClient } from '../../protocol/socket_client';
import type { ContextItem, SentItem } from '../../protocol/wire';
import { ConfigBanner, ConnectionBanner } from './banners';
import type { ReachabilityCheck } from './banners';
import { AllLocalModels, OfferedModel, WaysWithoutModel } from '../local_models/local_model_parts';
import { InstructionsPanel, UnansweredInstructions } from '../project/project_parts';

export interface ChatViewProps {
  chat: ChatModel;
  assistant: Assistant;
  client: SocketClient;
  sessions: SessionList;
  grants: Grants;
  project: ProjectInstructions;
  localModels: LocalModels;
  agentOptions: AgentOptions;
  front: NotebookFront;
  turns: TurnChanges;
  /** Opens a notebook at its first undecided change. */
  review: (path: string) => void;
  view: ViewState;
  /** What features show in place of the conversation. */
  panels: SidebarPanels;
  mentions: MentionSources;
  ui: Omit<Ui, 'insertCode'>;
  reachability: ReachabilityCheck;
  openMenu: (x: number, y: number) => void;
  /** Opens the skills, which also run without a model. */
  showSkills?: () => void;
  /** Opens the providers and their keys. */
  openSettings: () => void;
}

export function ChatView(props: ChatViewProps): JSX.Element {
  const { chat, client, front, view } = props;
  useSignals(chat.sessionChanged, view.changed, front.changed, client.stateChanged);
  const hasNotebook = front.path !== null;
  const ui = useMemo<Ui>(
    () => ({
      ...props.ui,
      insertCode: hasNotebook ? code => front.insertCode(code) : null,
      memory: new MemoryActions(client, chat.session)
    }),
    [props.ui, front, hasNotebook, client, chat.session]
  );
  return (
    <UiProvider value={ui}>
      <Header {...props} session={chat.session} />
      <ConnectionBanner client={client} check={props.reachability} />
      <ConfigBanner {...props} />
      <Body {...props} session={chat.session} />
      <RunningPlan session={chat.session} />
      <UnansweredInstructions {...props} />
      <ChosenAgent {...props} session={chat.session} />
      <Input {...props} session={chat.session} />
    </UiProvider>
  );
}

type PartProps = ChatViewProps & { session: Session };

function RunningPlan({ session }: { session: Session }): JSX.Element | null {
  useSignals(session.changed);
  return <PinnedPlan items={session.items} />;
}

function Body(props: PartProps): JSX.Element {
  const { view } = props;
  switch (view.panel) {
    case 'sessions':
      return <Sessions {...props} />;
    case 'grants':
      return <GrantsPanel grants={props.grants} close={() => view.focusInput()} />;
    case 'project':
      return <InstructionsPanel {...props} />;
    case 'local':
      return <AllLocalModels {...props} />;
    default:
      return <FeaturesPanel {...props} />;
  }
}

/** The panel of a feature; the conversation if none is chosen or it has been removed. */
function FeaturesPanel(props: PartProps): JSX.Element {
  const { panels, view } = props;
  useSignals(panels.changed);
  const panel = view.panel.startsWith(OF_FEATURE) && panels.get(view.panel.slice(OF_FEATURE.length));
  return panel ? panel.render(() => view.show('conversation')) : <Messages {...props} />;
}

function Messages(props: PartProps): JSX.Element {
  const { chat, session, client, assistant, localModels, front, turns, review, view, panels, ui } = props;
  useSignals(session.changed, assistant.changed, front.changed, turns.changed, panels.changed);
  const turnActions = useMemo(
    () => ({
      review,
      undo: (runId: string) => void turns.undo(runId),
      putBack: (runId: string) => void turns.putBack(runId)
    }),
    [review, turns]
  );
  const retry = useCallback((run: Run) => chat.retry(run), [chat]);
  const { approve, deny, answer, resend, withdraw } = session;
  if (session.phase === 'failed') {
    return (
      <SessionProblem
        isGone={session.isGone}
        message={session.problem?.message ?? ''}
        tryAgain={() => void session.reload()}
        beginNew={() => {
          chat.openSession(null);
          view.focusInput();
        }}
        showSessions={() => view.show('sessions')}
      />
    );
  }
  const why = noModelReason(assistant, localModels, chat.chosenModel, ui.trans);
  const actions = why === null ? null : <WaysWithoutModel {...props} />;
  if (session.items.length === 0 && session.phase !== 'loading') {
    const model = chat.chosenModel ?? assistant.agent?.model ?? null;
    return (
      <div className="onyx-List-frame">
        <FirstPage
          {...{ chat, front, trans: ui.trans }}
          model={model}
          isLocal={model?.startsWith('local/') ?? false}
          noModel={why === null ? null : { line: why, actions }}
          offer={model?.startsWith('local/') && <OfferedModel {...props} />}
          invitations={panels
            .invitations(id => view.show(`${OF_FEATURE}${id}`))
            .map((line, index) => (
              <Fragment key={index}>{line}</Fragment>
            ))}
          notebook={front.path}
          ask={text => chat.sendMessage({ body: text })}
          connectModel={props.openSettings}
        />
      </div>
    );
  }
  return (
    <MessageList
      key={session.key ?? 'new'}
      items={session.items}
      online={client.state === 'open'}
      retry={retry}
      actions={actions}
      {...{ approve, deny, answer, resend, withdraw }}
      turns={turns.turns}
      turnActions={turnActions}
      approvalFocusRequest={view.approvalFocusRequest}
      turnRequest={view.turnRequest}
    />
  );
}

type FirstPageProps = Omit<React.ComponentProps<typeof EmptyState>, 'fix'> & {
  chat: ChatModel;
  front: NotebookFront;
  trans: TranslationBundle;
};

/** If the notebook in front shows an error, fixing it is one of the suggestions. */
function FirstPage({ chat, front, trans, ...rest }: FirstPageProps): JSX.Element {
  useSignals(front.cellChanged);
  const item = front.lastError(trans);
  const text = item && cellRequest('fix', item, trans);
  const send = () =>
    item && text && chat.ask(text, [item], cellRequestMode('fix', chat.mode, chat.session.isRunning));
  return <EmptyState {...rest} fix={text ? { text: text.replace(/\.$/, ''), send } : null} />;
}

function Sessions({ chat, session, sessions, view }: PartProps): JSX.Element {
  useSignals(sessions.changed);
  const search = useCallback((query: string) => void sessions.load(query), [sessions]);
  return (
    <SessionListView
      list={sessions}
      current={session.key}
      search={search}
      open={({ sessionKey, match }) => {
        if (match) {
          openTurn(chat, view, sessionKey, match.entryId);
        } else {
          chat.openSession(sessionKey);
          view.focusInput();
        }
      }}
      close={() => view.focusInput()}
    />
  );
}

/** What another agent offers, if one answers. */
function ChosenAgent({ chat, session, assistant, client, agentOptions }: PartProps): JSX.Element | null {
  useSignals(session.changed, assistant.changed, client.stateChanged);
  const model = chat.chosenModel ?? assistant.agent?.model ?? '';
  return model.startsWith('acp/') ? (
    <AgentOptionsView
      {...{ agentOptions, model }}
      sessionKey={session.key}
      running={session.isRunning}
      online={client.state === 'open'}
    />
  ) : null;
}

function Input(props: PartProps): JSX.Element {
  const { chat, session, assistant, client, front, view, panels, mentions } = props;
  useSignals(
    session.changed,
    assistant.changed,
    front.changed,
    chat.input.valueChanged,
    chat.chips.changed,
    client.stateChanged
  );
  const { path, isIncluded, activeCellId } = front;
  const { chips } = chat;
  const notebook = path === null ? null : notebookItem(path, activeCellId);
  const model = chat.chosenModel;
  const sessionKey = session.key;
  const look = useCallback(
    (item: ContextItem) => preview(client, item, sessionKey, model),
    [client, sessionKey, model]
  );
  const send = (whenBusy?: WhenBusy) => {
    const panel = panels.typed(chat.input.value);
    if (panel) {
      chat.type('');
      view.show(`${OF_FEATURE}${panel.id}`);
      return;
    }
    view.show('conversation'); // leave any panel: the answer and its questions appear here
    chat.submit(whenBusy);
  };
  return (
    <Composer
      text={chat.input.value}
      setText={text => chat.type(text)}
      send={() => send()}
      sendAfter={() => send('followup')}
      stop={() => void session.abort().catch(() => undefined)}
      editLast={() => chat.editLast()}
      expectInput={() => chat.expectInput()}
      answerWaiting={() => view.focusApproval()}
      running={session.isRunning}
      online={client.state === 'open'}
      waitingForPerson={waitingCalls(session.items).length > 0}
      chips={[
        ...(notebook && isIncluded ? [{ item: notebook, remove: () => front.include(false) }] : []),
        ...chips.items.map(item => ({ item, remove: () => chips.remove(item) }))
      ]}
      offered={notebook && !isIncluded ? { item: notebook, add: () => front.include(true) } : null}
      look={look}
      mentions={mentions}
      addContext={item => chips.add(item)}
      usage={totalUsage(session.items)}
      focusRequest={view.focusRequest}
      models={assistant.models}
      standard={assistant.agent?.model ?? null}
      chosen={chat.chosenModel}
      choose={model => chat.chooseModel(model)}
      toolMode={chat.toolMode}
      chooseToolMode={mode => chat.chooseToolMode(mode)}
      effort={chat.effort}
      chooseEffort={effort => chat.chooseEffort(effort)}
      connectModel={props.openSettings}
      showLocalModels={() => view.show('local')}
      mode={chat.mode}
      allowedModes={assistant.modes}
      chooseMode={mode => chat.chooseMode(mode)}
    />
  );
}

/** What the model would get of an item if it were sent now; null if the server cannot be asked. */
async function preview(
  client: SocketClient,
  item: ContextItem,
  sessionKey: string | null,
  model: string | null
): Promise<SentItem | null> {
  try {
    const { items } = await client.request('context.preview', {
      items: [asContextItem(item)],
      sessionKey,
      model
    });
    return items[0];
  } catch {
    return null;
  }
}
