// Lists every field of an experiment with its value: what links, edits and steering read. A form
// adds headings and effects (form/form.ts).
import { ACTOR } from '../../../rl/config/actor.ts'
import { ALGORITHM } from '../../../rl/config/algorithm.ts'
import { CRITIC } from '../../../rl/config/critic.ts'
import { DATA } from '../../../rl/config/data.ts'
import { ROLLOUT } from '../../../rl/config/rollout.ts'
import { PROBE, VALIDATION } from '../../../rl/config/validation.ts'
import { type FieldInfo, type FieldValue, leavesOf } from '../../../rl/fields/field.ts'
import { MODEL } from '../fields/model_fields.ts'
import { valueAt } from '../fields/paths.ts'
import { DISTILL, PREFERENCE, REWARD_MODEL, RL, SFT, TARGET_LAYER } from '../fields/phase_fields.ts'
import type { PhaseDocument } from '../fields/phases.ts'
import { KERNELS, ROOT } from '../fields/run_fields.ts'
import { TASK_ID, TASK_PARAMS } from '../fields/task_fields.ts'
import { TEACHER } from '../fields/teacher_fields.ts'
import { REWARD } from '../lists/reward_schema.ts'
import { TOOLS_INFO, toolsText } from '../lists/tools.ts'
import type { Experiment } from './schema.ts'

/** A field of one experiment. */
export interface DocumentField extends FieldInfo {
  /** Dotted, e.g. 'actor.clip_ratio_low', 'phases.1.target_layer', 'actor.optim.betas.0'. */
  readonly path: string
  /** The value in force; for a phase's own setting that is not set, the experiment's. */
  readonly value: FieldValue
  /** What clearing it (`withField(experiment, path, undefined)`) brings back. */
  readonly default: FieldValue
  /** Only for what a phase may set itself: whether it does. */
  readonly isOverridden?: boolean
}

/** The sections that a phase may overlay with settings of its own, in the order of forms. */
export const OVERRIDABLE = { rollout: ROLLOUT, actor: ACTOR, critic: CRITIC, algorithm: ALGORITHM }

/** Every tree of fields by its place in a document; that of a phase is below phases.<kind>. */
export const SECTIONS = {
  data: DATA,
  reward: REWARD,
  model: MODEL,
  teacher: TEACHER,
  ...OVERRIDABLE,
  validation: VALIDATION,
  probe: PROBE,
  'phases.sft': SFT,
  'phases.reward_model': REWARD_MODEL,
  'phases.preference': PREFERENCE,
  'phases.distill': DISTILL,
  'phases.rl': RL,
}

/** The fields of a tree; `path` is where it lies in the document. */
const fieldsAt = (experiment: Experiment, path: string, tree: unknown): DocumentField[] =>
  leavesOf(tree, path).map(([at, { info }]) => ({
    ...info,
    path: at,
    value: valueAt(experiment, at) as FieldValue,
  }))

/** What a phase of reinforcement may set itself; its default is the experiment's own value. */
export const ownFields = (experiment: Experiment, index: number): DocumentField[] =>
  leavesOf(OVERRIDABLE).map(([name, { info }]) => {
    const path = `phases.${index}.${name}`
    const own = valueAt(experiment, path) as FieldValue | undefined
    const shared = valueAt(experiment, name) as FieldValue
    const isOverridden = own !== undefined
    return { ...info, path, value: isOverridden ? own : shared, default: shared, isOverridden }
  })

function phaseFields(experiment: Experiment, phase: PhaseDocument, index: number) {
  const path = `phases.${index}`
  const at = (tree: unknown) => fieldsAt(experiment, path, tree)
  if (phase.kind === 'reward_model') return at(REWARD_MODEL)
  if (phase.kind === 'sft') return at(SFT)
  const target = { ...TARGET_LAYER, path: `${path}.target_layer`, value: phase.target_layer }
  if (phase.kind === 'preference')
    return [...at({ ...PREFERENCE, stop: {} }), target, ...at({ stop: PREFERENCE.stop })]
  if (phase.kind === 'distill')
    return [...at({ ...DISTILL, stop: {} }), target, ...at({ stop: DISTILL.stop })]
  return [
    ...at({ ...RL, stop: {} }),
    target,
    ...at({ stop: RL.stop }),
    ...ownFields(experiment, index),
  ]
}

/** Every field of an experiment, in the order in which links write them. */
export function documentFields(experiment: Experiment): DocumentField[] {
  const { task, tools, phases } = experiment
  const at = (path: string, tree: unknown) => fieldsAt(experiment, path, tree)
  return [
    ...at('', ROOT),
    { ...TASK_ID, path: 'task.id', value: task.id },
    ...at('task', TASK_PARAMS.get(task.id)),
    { ...TOOLS_INFO, path: 'tools', value: toolsText(tools) },
    ...at('data', DATA),
    ...at('reward', REWARD),
    ...at('model', MODEL),
    ...at('teacher', TEACHER),
    ...phases.flatMap((phase, index) => phaseFields(experiment, phase, index)),
    ...at('', OVERRIDABLE),
    ...at('validation', VALIDATION),
    ...at('probe', PROBE),
    ...at('', KERNELS),
  ]
}
