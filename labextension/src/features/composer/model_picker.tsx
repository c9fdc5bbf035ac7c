/** Which model answers next, how it acts and how much it thinks; the first choice leaves it to the agent. */
import { lockedModeText } from './mode';
import { defaultActing, effortName, modelName, toolModeName } from './model_choice';
import type { Acting, Effort, ToolMode } from './model_choice';
import type { ModelInfo } from '../../protocol/wire';
import { useUi } from '../../shared/ui_context';

interface ModelPickerProps {
  models: readonly ModelInfo[];
  /** The agent's own model, null until the server has reported it. */
  standard: string | null;
  chosen: string | null;
  choose: (model: string | null) => void;
  /** How the chosen model acts. */
  toolMode: ToolMode;
  chooseToolMode: (mode: ToolMode) => void;
  /** How much the chosen model thinks; null leaves it to its provider. */
  effort: Effort | null;
  chooseEffort: (effort: Effort | null) => void;
  connectModel: () => void;
  /** Opens the models that can run on this machine. */
  showLocalModels: () => void;
}

const CONNECT = '\u0000connect';
const LOCAL = '\u0000local';
const TOOL_MODE_PREFIX = '\u0000acts:';
const EFFORT_PREFIX = '\u0000thinks:';

export function ModelPicker({
  models,
  standard,
  chosen,
  choose,
  toolMode,
  chooseToolMode,
  effort,
  chooseEffort,
  connectModel,
  showLocalModels
}: ModelPickerProps): JSX.Element {
  const { trans } = useUi();
  const shown = chosen ?? standard ?? '';
  const known = models.map(model => model.id);
  const extra = [standard, chosen].filter((id): id is string => !!id && !known.includes(id));
  const isLocked = models.some(model => model.id === shown && model.locked);
  const usual = defaultActing(models, shown);
  const acting = usual && (toolMode === 'auto' ? usual : toolMode);
  const name = shown ? trans.__('Model: %1', shown) : trans.__('Model');
  const efforts = acting === 'tools' ? (models.find(model => model.id === shown)?.efforts ?? []) : [];
  const thinks = effort && efforts.includes(effort) ? effortName(effort, trans) : null;
  const title = [name, acting && toolModeName(acting, trans), thinks].filter(Boolean).join(' · ');
  const providers = [...new Set(models.map(model => model.provider))];
  return (
    <select
      className="onyx-Select"
      data-onyx="model-picker"
      aria-label={trans.__('Model')}
      title={isLocked ? `${title} – ${lockedModeText(trans)}` : title}
      value={shown}
      onChange={event => {
        const { value } = event.target;
        if (value === CONNECT) {
          connectModel();
        } else if (value === LOCAL) {
          showLocalModels();
        } else if (value.startsWith(TOOL_MODE_PREFIX)) {
          const wished = value.slice(TOOL_MODE_PREFIX.length) as Acting;
          chooseToolMode(wished === usual ? 'auto' : wished);
        } else if (value.startsWith(EFFORT_PREFIX)) {
          chooseEffort((value.slice(EFFORT_PREFIX.length) || null) as Effort | null);
        } else {
          choose(value === standard ? null : value);
        }
      }}
    >
      {shown === '' && <option value="">{trans.__('No model')}</option>}
      {[...new Set(extra)].map(id => (
        <option key={id} value={id}>
          {modelName(id)}
        </option>
      ))}
      {providers.map(provider => (
        <ProviderModels
          key={provider}
          provider={provider}
          models={models.filter(model => model.provider === provider)}
          chosen={shown}
          facts={[acting === 'cell' && trans.__('in cells'), thinks].filter((one): one is string => !!one)}
        />
      ))}
      {acting && usual && <ActingChoice model={shown} acting={acting} usual={usual} />}
      {efforts.length > 0 && <EffortChoice model={shown} efforts={efforts} chosen={effort} />}
      <option value={LOCAL}>{trans.__('Local models…')}</option>
      <option value={CONNECT}>{trans.__('Connect a model…')}</option>
    </select>
  );
}

/** How the chosen model acts; the other way is one choice away. */
function ActingChoice(props: { model: string; acting: Acting; usual: Acting }): JSX.Element {
  const { trans } = useUi();
  return (
    <optgroup label={trans.__('How %1 acts', modelName(props.model))} data-onyx="acting">
      {(['cell', 'tools'] as const).map(way => {
        const name =
          way === props.usual
            ? trans.__('%1 (standard)', toolModeName(way, trans))
            : toolModeName(way, trans);
        return (
          <option key={way} value={TOOL_MODE_PREFIX + way}>
            {way === props.acting ? `✓ ${name}` : name}
          </option>
        );
      })}
    </optgroup>
  );
}

/** How much the chosen model thinks, of what it offers. */
function EffortChoice(props: {
  model: string;
  efforts: readonly Effort[];
  chosen: Effort | null;
}): JSX.Element {
  const { trans } = useUi();
  const chosen = props.efforts.find(effort => effort === props.chosen) ?? null;
  return (
    <optgroup label={trans.__('How much %1 thinks', modelName(props.model))} data-onyx="effort">
      {[null, ...props.efforts].map(effort => {
        const name = effort === null ? trans.__('As its provider has it') : effortName(effort, trans);
        return (
          <option key={effort} value={EFFORT_PREFIX + (effort ?? '')}>
            {effort === chosen ? `✓ ${name}` : name}
          </option>
        );
      })}
    </optgroup>
  );
}

/** A provider is allowed or locked as a whole, so its name says why. */
function ProviderModels({
  provider,
  models,
  chosen,
  facts
}: {
  provider: string;
  models: readonly ModelInfo[];
  chosen: string;
  /** What differs from the usual for the chosen model: visible beside its name before a message is sent. */
  facts: readonly string[];
}): JSX.Element {
  const { trans } = useUi();
  const isLocked = models.every(model => model.locked);
  return (
    <optgroup label={isLocked ? `${provider} – ${lockedModeText(trans)}` : provider}>
      {models.map(model => (
        <option
          key={model.id}
          value={model.id}
          disabled={model.locked}
          aria-disabled={model.locked || undefined}
        >
          {[modelName(model.id), ...(model.id === chosen ? facts : [])].join(' · ')}
        </option>
      ))}
    </optgroup>
  );
}
