/** A skill's question as a cell output: passes JupyterLab's data to the model and draws the result. */
import type { IRenderMime } from '@jupyterlab/rendermime';
import { ReactWidget } from '@jupyterlab/ui-components';

import { useSignals } from '../../shared/hooks';
import { SkillConsentCard } from './skill_consent_card';
import { UiProvider } from '../../shared/ui_context';
import type { Ui } from '../../shared/ui_context';
import { CONSENT_MIME_TYPE } from './skill_consent';
import type { SkillConsent } from './skill_consent';

export class SkillConsentOutput extends ReactWidget implements IRenderMime.IRenderer {
  constructor(
    private readonly consent: SkillConsent,
    private readonly ui: Ui
  ) {
    super();
    this.addClass('onyx-Chat');
    this.addClass('onyx-mod-cell');
  }

  renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.consent.update(model.data[CONSENT_MIME_TYPE]);
    return this.renderPromise ?? Promise.resolve();
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this.consent.dispose();
      super.dispose();
    }
  }

  protected override render(): JSX.Element {
    return (
      <UiProvider value={this.ui}>
        <Consent consent={this.consent} />
      </UiProvider>
    );
  }
}

function Consent({ consent }: { consent: SkillConsent }): JSX.Element {
  useSignals(consent.changed);
  const { question, end, online, problem, trust, refuse } = consent;
  return <SkillConsentCard {...{ question, end, online, problem, trust, refuse }} />;
}
