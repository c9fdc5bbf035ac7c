/** The plan of a run: the contents of its newest `plan_update` call, reduced to what is valid. */
import { callsOf } from './conversation';
import type { Part, Run, ToolCall } from './conversation';

const PLAN_TOOL = 'plan_update';

type StepStatus = 'pending' | 'doing' | 'done' | 'dropped';

export interface PlanStep {
  text: string;
  status: StepStatus;
}

export interface Plan {
  steps: readonly PlanStep[];
  /** Not counting dropped steps. */
  done: number;
  total: number;
  /** The step being done now, or the next one; empty if none is left. */
  current: string;
}

const STATUSES: readonly StepStatus[] = ['pending', 'doing', 'done', 'dropped'];

/** The run's plan, or null if it has none. */
export function planOf(run: Run): Plan | null {
  const newest = callsOf(run).filter(isPlan).at(-1);
  return newest ? readPlan(newest.input.steps) : null;
}

/** Whether this call only shows a plan: it has no card of its own. */
function isPlan(call: ToolCall): boolean {
  return call.tool === PLAN_TOOL && call.status === 'ok';
}

/** Whether a part of a run shows nothing itself: a plan in progress, or one already shown. */
export function isPlanPart(part: Part): boolean {
  return part.kind === 'tool' && part.call.tool === PLAN_TOOL && ['ok', 'running'].includes(part.call.status);
}

export function readPlan(value: unknown): Plan | null {
  const steps = (Array.isArray(value) ? value : []).filter(isStep);
  const kept = steps.filter(step => step.status !== 'dropped');
  if (steps.length === 0) {
    return null;
  }
  const current = kept.find(step => step.status === 'doing') ?? kept.find(step => step.status === 'pending');
  return {
    steps,
    done: kept.filter(step => step.status === 'done').length,
    total: kept.length,
    current: current?.text ?? ''
  };
}

function isStep(value: unknown): value is PlanStep {
  const step = value as Partial<PlanStep> | null;
  return typeof step?.text === 'string' && STATUSES.includes(step.status as StepStatus);
}
