/** The jobs panel, the commands that open it, and what is told of runs that nobody asked for. */
import { ILabShell, ILayoutRestorer } from '@jupyterlab/application';
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import {
  Clipboard,
  ICommandPalette,
  MainAreaWidget,
  Notification,
  WidgetTracker
} from '@jupyterlab/apputils';
import { PageConfig } from '@jupyterlab/coreutils';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import type { TranslationBundle } from '@jupyterlab/translation';

import { IOnyxChat, IOnyxConnection, IOnyxRendering } from '../../tokens';
import { onyxIcon } from '../../shared/onyx_icon';
import { mainPanel, showPanel } from '../../shared/show_panel';
import { browserStore } from '../chat/tab_memory';
import { Settings } from '../settings/settings';
import { memoryDrivePath } from '../workspace/onyx_drive';
import { Away } from './away';
import { notifyOfRuns } from './job_notices';
import { Jobs } from './jobs';
import type { Chosen } from './jobs';
import { JobsPanel } from './jobs_panel';

export const JOBS_COMMAND = 'onyx:jobs';
/** From the workspace plugin. */
const OPEN_FILE = 'onyx:open-file';
const ID = 'onyx-jobs';

export const schedulePlugin: JupyterFrontEndPlugin<void> = {
  id: 'onyx-jupyter:schedule',
  description: 'Scheduled jobs and heartbeats in a panel, and notifications of their runs.',
  autoStart: true,
  requires: [IOnyxConnection, IOnyxChat, IOnyxRendering],
  optional: [ITranslator, ICommandPalette, ILayoutRestorer, ILabShell],
  activate: (
    app: JupyterFrontEnd,
    { client, assistant }: IOnyxConnection,
    { model, sidebar, reveal }: IOnyxChat,
    rendering: IOnyxRendering,
    translator: ITranslator | null,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null,
    labShell: ILabShell | null
  ): void => {
    const trans = (translator ?? nullTranslator).load('onyx_jupyter');
    const jobs = new Jobs(client);
    const away = new Away(client, browserStore('localStorage'), `onyx:${PageConfig.getBaseUrl()}:jobs-seen`);
    const tracker = new WidgetTracker<MainAreaWidget<JobsPanel>>({ namespace: ID });
    const openSession = (sessionKey: string) => {
      model.openSession(sessionKey);
      reveal();
    };
    const create = () => {
      const content = new JobsPanel({
        ...{ jobs, away, assistant, openSession, settings: new Settings(client) },
        openTasks: agentId =>
          void app.commands.execute(OPEN_FILE, { path: memoryDrivePath('HEARTBEAT.md', agentId) }),
        ui: { trans, rendering, insertCode: null, copy: text => Clipboard.copyToSystem(text) }
      });
      return mainPanel(ID, trans.__('Scheduled'), content);
    };
    const open = () => showPanel(app, labShell !== null, tracker, create, 'Onyx jobs');
    const show = (chosen: Chosen) => void open().then(() => jobs.choose(chosen));
    app.commands.addCommand(JOBS_COMMAND, {
      label: args => (args['isMenu'] ? trans.__('Scheduled jobs') : trans.__('Onyx: Scheduled jobs')),
      caption: trans.__('What Onyx does by itself, and when'),
      icon: args => (args['isMenu'] ? onyxIcon : undefined),
      execute: open
    });
    palette?.addItem({ command: JOBS_COMMAND, category: 'Onyx' });
    void restorer?.restore(tracker, { command: JOBS_COMMAND, name: () => ID });
    notifyOfRuns(
      client,
      {
        isInView: (jobId, sessionKey) =>
          (sidebar.isVisible && sessionKey !== null && model.session.key === sessionKey) ||
          (tracker.currentWidget?.isVisible === true && jobs.job?.id === jobId),
        showJob: id => show({ kind: 'job', id, isEdited: false }),
        showHeartbeat: agentId => show({ kind: 'heartbeat', agentId })
      },
      trans
    );
    tellOfReturn(away, () => show({ kind: 'away' }), trans);
  }
};

/** One notification for what happened while nobody was here. */
function tellOfReturn(away: Away, show: () => void, trans: TranslationBundle): void {
  let shown = '';
  away.changed.connect(() => {
    Notification.dismiss(shown);
    shown = '';
    if (away.count > 0) {
      const { count, failed } = away;
      const what = trans._n('%1 scheduled run', '%1 scheduled runs', count);
      const words = failed > 0 ? trans.__('%1, %2 failed', what, failed) : what;
      shown = Notification.emit(trans.__('While you were away: %1', words), failed > 0 ? 'warning' : 'info', {
        autoClose: false,
        actions: [{ label: trans.__('Show'), callback: show }]
      });
    }
  });
}
