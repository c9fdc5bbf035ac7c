/** Onboarding as a panel of the sidebar, by a command, by `/onboard`, and offered on the first page. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { IOnyxChat, IOnyxConnection } from '../../tokens';
import { memoryDrivePath } from '../workspace/onyx_drive';
import { Onboarding } from './onboarding';
import { OnboardingOffer, OnboardingPanel } from './onboarding_panel';

export const ONBOARDING_COMMAND = 'onyx:onboard';

/** From the workspace plugin. */
const OPEN_FILE = 'onyx:open-file';

export const onboardingPlugin: JupyterFrontEndPlugin<void> = {
  id: 'onyx-jupyter:onboarding',
  description: 'Questions by which Onyx gets to know a user, in a panel of the sidebar.',
  autoStart: true,
  requires: [IOnyxConnection, IOnyxChat],
  optional: [ITranslator],
  activate: (
    app: JupyterFrontEnd,
    { client }: IOnyxConnection,
    { model, panels, reveal }: IOnyxChat,
    translator: ITranslator | null
  ): void => {
    const trans = (translator ?? nullTranslator).load('onyx_jupyter');
    const agentId = () => model.session.info?.agentId ?? null;
    const onboarding = new Onboarding(client, agentId);
    const openFile = (path: string) =>
      void app.commands.execute(OPEN_FILE, { path: memoryDrivePath(path, agentId()) });
    panels.add({
      id: 'onboarding',
      command: ONBOARDING_COMMAND,
      typed: '/onboard',
      label: trans.__('Set up Onyx…'),
      invite: open => <OnboardingOffer {...{ onboarding, open }} />,
      render: () => (
        <OnboardingPanel {...{ onboarding, openFile }} close={() => reveal({ focusInput: true })} />
      )
    });
    void onboarding.open();
    model.sessionChanged.connect(() => void onboarding.load());
  }
};
