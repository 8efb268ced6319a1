// Declares the fields of a phase in a form.
import { continuesSchedule } from '../../../rl/config/schedule.ts'
import { leavesOf } from '../../../rl/fields/field.ts'
import { PREFERENCE_NUMBERS } from '../../../rl/preferences/losses/preference_numbers.ts'
import { preferenceLossOf } from '../../../rl/preferences/losses.ts'
import { pairOptions } from '../../../rl/preferences/pair_objective.ts'
import { asksPerson } from '../fields/pairs_fields.ts'
import { DISTILL, PREFERENCE, REWARD_MODEL, RL, SFT, TARGET_LAYER } from '../fields/phase_fields.ts'
import type {
  BatchedDocument,
  DistillDocument,
  PairedDocument,
  PhaseDocument,
  PreferenceDocument,
  RewardModelDocument,
  RlDocument,
  SftDocument,
} from '../fields/phases.ts'
import { hasRewardModel } from '../rules/phase_rules.ts'
import { epochWords, hasTrainingSet } from '../schema/epochs.ts'
import type { Experiment } from '../schema/schema.ts'
import { isOfSchedule, warmsUpByShare } from './conditions.ts'
import { type Field, fieldsOf } from './form_fields.ts'
import { overrideFields } from './override_form.ts'

/** Whether a setting of the optimizer of a phase without actor changes anything. */
function optimMatters(
  name: string,
  { optim }: SftDocument | DistillDocument | PairedDocument,
): boolean {
  if (name.startsWith('optim.muon.')) return optim.optimizer === 'Muon'
  return name !== 'optim.lr_warmup_steps_ratio' || warmsUpByShare(optim)
}

/** Whether a setting of a phase's pairs changes anything. */
function pairsMatter(name: string, pairs: PairedDocument['pairs']): boolean {
  if (name === 'pairs.min_pairs') return pairs.source === 'human'
  if (name === 'pairs.noise') return pairs.source === 'judge' || pairs.source === 'mixed'
  if (name === 'pairs.temperature' || name === 'pairs.n') return pairs.source !== 'file'
  return name !== 'pairs.verdicts' || asksPerson(pairs)
}

/** What ends a phase before its steps are over. */
function stopFields(
  experiment: Experiment,
  phase: Exclude<PhaseDocument, RewardModelDocument>,
  index: number,
): Field[] {
  const tree = phase.kind === 'rl' ? RL.stop : SFT.stop
  const group = `Phase ${index + 1}, ends early`
  return fieldsOf(experiment, group, `phases.${index}.stop`, leavesOf(tree)).map((field) => ({
    ...field,
    hasEffect:
      !field.path.endsWith('_delta') || (phase.kind === 'rl' && phase.stop.plateau_steps !== null),
  }))
}

/** Epochs are offered where there is a set to go through, and say how many steps they come to. */
const withEpochsTold = (
  experiment: Experiment,
  phase: BatchedDocument,
  fields: readonly Field[],
): Field[] =>
  fields.map((field) => {
    if (!/^phases\.\d+\.epochs$/.test(field.path)) return field
    if (!hasTrainingSet(experiment)) return { ...field, hasEffect: false }
    return { ...field, help: `${field.help} ${epochWords(experiment, phase)}` }
  })

/** Where the fields of a phase are: their path in the document, and their heading. */
const placeOf = (index: number) => ({ path: `phases.${index}`, group: `Phase ${index + 1}` })

function rewardModelFields(
  experiment: Experiment,
  phase: RewardModelDocument,
  index: number,
): Field[] {
  const { path, group } = placeOf(index)
  return fieldsOf(experiment, group, path, leavesOf(REWARD_MODEL)).map((field) => {
    const name = field.path.slice(path.length + 1)
    return {
      ...field,
      hasEffect: optimMatters(name, phase) && pairsMatter(name, phase.pairs),
    }
  })
}

function sftFields(experiment: Experiment, phase: SftDocument, index: number): Field[] {
  const { path, group } = placeOf(index)
  const beginsSchedule = !continuesSchedule(experiment.phases, index)
  const isOffered = (name: string) => beginsSchedule || !isOfSchedule(name)
  const own = fieldsOf(experiment, group, path, leavesOf({ ...SFT, stop: {} })).map((field) => {
    const name = field.path.slice(path.length + 1)
    return { ...field, hasEffect: isOffered(name) && optimMatters(name, phase) }
  })
  return [...withEpochsTold(experiment, phase, own), ...stopFields(experiment, phase, index)]
}

/** Whether a setting of the objective changes anything: the loss has it, and what asks for it is
 * on. */
function objectiveMatters(name: string, { preference }: PreferenceDocument): boolean {
  const loss = preferenceLossOf(preference.loss_type)
  if (name in PREFERENCE_NUMBERS) return loss.numbers.some((own) => own === name)
  if (loss.data === 'answers') return name === 'loss_type'
  const can = pairOptions(loss)
  if (name === 'f_alpha_divergence_coef')
    return can.f_divergence_type && preference.f_divergence_type === 'alpha_divergence'
  return name in can ? can[name as keyof typeof can] : true
}

function preferenceFields(
  experiment: Experiment,
  phase: PreferenceDocument,
  index: number,
): Field[] {
  const { path, group } = placeOf(index)
  const leaves = leavesOf({ ...PREFERENCE, stop: {} })
  const { source } = phase.pairs
  const mayJudge = phase.reward_model.enable || hasRewardModel(experiment.phases, index)
  const own: Readonly<Record<string, boolean>> = {
    target_readout: phase.target_layer !== 'final',
    refresh_steps: source === 'judge',
    'reward_model.enable': mayJudge && (source === 'judge' || source === 'mixed'),
  }
  const fields = fieldsOf(experiment, group, path, leaves).map((field) => {
    const name = field.path.slice(path.length + 1)
    const objective = /^preference\.(.*)$/.exec(name)?.[1]
    const hasEffect =
      name in own
        ? own[name]
        : optimMatters(name, phase) &&
          pairsMatter(name, phase.pairs) &&
          (objective === undefined || objectiveMatters(objective, phase))
    return { ...field, hasEffect }
  })
  return [...fields, targetField(experiment, phase, index), ...stopFields(experiment, phase, index)]
}

/** Where settings of a teacher have an effect. */
const DISTILLS_WITH: Readonly<Record<string, (phase: DistillDocument) => boolean>> = {
  'distillation.ema_decay': ({ distillation }) => distillation.teacher === 'ema',
  'distillation.seq_kd': ({ distillation: { teacher, lmbda } }) => lmbda < 1 && teacher !== 'final',
  'distillation.crossentropy_weight': ({ target_layer, distillation: { lmbda } }) =>
    lmbda < 1 && target_layer === 'final',
}

function distillFields(experiment: Experiment, phase: DistillDocument, index: number): Field[] {
  const { path, group } = placeOf(index)
  const beginsSchedule = !continuesSchedule(experiment.phases, index)
  const leaves = leavesOf({ ...DISTILL, stop: {} })
  const fields = fieldsOf(experiment, group, path, leaves).map((field) => {
    const name = field.path.slice(path.length + 1)
    const own = DISTILLS_WITH[name]
    const hasEffect = own
      ? own(phase)
      : (beginsSchedule || !isOfSchedule(name)) && optimMatters(name, phase)
    return { ...field, hasEffect }
  })
  return [
    ...withEpochsTold(experiment, phase, fields),
    targetField(experiment, phase, index),
    ...stopFields(experiment, phase, index),
  ]
}

/** The field `target_layer`, with a choice for each inner layer of the model. */
function targetField(
  { model }: Experiment,
  phase: RlDocument | PreferenceDocument | DistillDocument,
  index: number,
): Field {
  const { path, group } = placeOf(index)
  const inner = Array.from({ length: model.num_hidden_layers - 1 }, (_, i) => i + 1)
  const options = [
    { value: 'final', label: 'whole model' },
    ...inner.map((value) => ({ value, label: `layer ${value}` })),
  ]
  return {
    ...TARGET_LAYER,
    options,
    group,
    value: phase.target_layer,
    hasEffect: true,
    path: `${path}.target_layer`,
  }
}

/** Whether a field of a phase of kind rl changes anything; `before` = the kind of the phase before
 * it. */
function trainedHasEffect(
  name: string,
  phase: RlDocument,
  before: PhaseDocument['kind'] | undefined,
): boolean {
  if (name === 'target_readout') return phase.target_layer !== 'final'
  if (name === 'decay_final_norm')
    return phase.target_layer !== 'final' && phase.target_readout === 'raw'
  // Every other phase begins with a new optimizer and schedule anyway.
  if (name === 'reset_optimizer' || name === 'reset_schedule') return before === 'rl'
  if (name === 'lr_factor_above.layer') return phase.lr_factor_above.factor !== 1
  return true
}

function rlFields(experiment: Experiment, phase: RlDocument, index: number): Field[] {
  const { path, group } = placeOf(index)
  const before = experiment.phases[index - 1]?.kind
  // A switch that could only be refused is left out of forms.
  const canBeRewarded = phase.reward_model.enable || hasRewardModel(experiment.phases, index)
  const leaves = leavesOf({ ...RL, stop: {} })
  const own = leaves.map(([name]) =>
    name === 'reward_model.enable' ? canBeRewarded : trainedHasEffect(name, phase, before),
  )
  const fields = fieldsOf(experiment, group, path, leaves).map((field, i) => ({
    ...field,
    hasEffect: own[i],
  }))
  const beginsSchedule = !continuesSchedule(experiment.phases, index)
  return [
    ...withEpochsTold(experiment, phase, fields),
    targetField(experiment, phase, index),
    ...stopFields(experiment, phase, index),
    ...overrideFields(experiment, phase, index, beginsSchedule),
  ]
}

/** Every field of phase `index`, its own settings of what all phases share included. */
export function phaseFields(experiment: Experiment, index: number): Field[] {
  const phase = experiment.phases[index]
  if (phase.kind === 'reward_model') return rewardModelFields(experiment, phase, index)
  if (phase.kind === 'preference') return preferenceFields(experiment, phase, index)
  if (phase.kind === 'sft') return sftFields(experiment, phase, index)
  if (phase.kind === 'distill') return distillFields(experiment, phase, index)
  return rlFields(experiment, phase, index)
}
