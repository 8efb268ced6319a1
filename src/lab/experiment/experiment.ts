// The experiment document: parsing, the rules between its fields, its phases resolved, and the form drawn from it.
import type * as z from 'zod/mini'
import { hasStop, type PhaseReason, STOP_DEFAULTS } from '../../rl/config/phase.ts'
import { continuesSchedule } from '../../rl/config/schedule.ts'
import { TASKS } from '../../tasks/index.ts'
import {
  groupOf,
  hasEffect,
  hasOwnEffect,
  isOfSchedule,
  validationHasEffect,
  warmsUpByShare,
} from './conditions.ts'
import { epochWords, hasTrainingSet, withEpochs } from './epochs.ts'
import { type FieldInfo, type FieldValue, type Leaf, leavesOf, show } from './fields.ts'
import { type Document, type Issue, isDocument, setAt, sizeIssue, valueAt } from './paths.ts'
import { trainedHasEffect } from './phase_fields.ts'
import { hasRewardModel, mayChooseCritic } from './phase_rules.ts'
import { settingsOf } from './phase_settings.ts'
import { remarksOf } from './remarks.ts'
import { ACTOR, ALGORITHM, CRITIC } from './rl_fields.ts'
import { brokenRules, taskOf } from './rules.ts'
import {
  DATA,
  type Experiment,
  experimentSchema,
  KERNELS,
  MODEL,
  PHASE_KINDS,
  type PhaseDocument,
  PROBE,
  REWARD_MODEL,
  type RewardModelDocument,
  RL,
  type RlDocument,
  ROLLOUT,
  ROOT,
  SFT,
  type SftDocument,
  TARGET_LAYER,
  TASK_PARAMS,
  taskSchema,
  VALIDATION,
} from './schema.ts'
import { editPhases, followSteering, isSteerable, type SteeringAction } from './steering.ts'

export type { FieldKind, FieldOption, FieldValue } from './fields.ts'
export type { Issue } from './paths.ts'
export { hasRewardModel } from './phase_rules.ts'
export { resolvePhases, taskOf } from './rules.ts'
export type { Experiment, ModelFields, PhaseDocument, RlDocument, TaskChoice } from './schema.ts'
export { EXPERIMENT_VERSION, MAX_LAYERS, MAX_PHASES, MAX_STEPS, PHASE_KINDS } from './schema.ts'
export type { SteeringAction, SteeringEntry } from './steering.ts'
export { isSteerable, MAX_STEERING, steeringWords } from './steering.ts'

export type Parsed =
  | { readonly ok: true; readonly experiment: Experiment }
  | { readonly ok: false; readonly issues: readonly Issue[] }

/** A field of one experiment, with all a form needs. */
export interface Field extends FieldInfo {
  /** Dotted, e.g. 'actor.clip_ratio_low', 'phases.1.target_layer', 'actor.optim.betas.0'. */
  readonly path: string
  /** Heading it stands under. */
  readonly group: string
  /** The value in force; for a phase's own setting that is not set, the experiment's. */
  readonly value: FieldValue
  /** What clearing it (`withField(experiment, path, undefined)`) brings back. */
  readonly default: FieldValue
  /** Only for what a phase may set itself: whether it does. */
  readonly is_overridden?: boolean
  /** Whether it changes anything as the other settings are; a form leaves out what does not. */
  readonly has_effect: boolean
  /** What a run does otherwise than the value says. */
  readonly remark?: string
}

const off =
  (instead: unknown) =>
  (value: unknown): unknown =>
    value === null ? instead : value

/** What verl writes as null, or as a number where text is kept: by its path, what it is here. */
const VERL_WORDS: readonly (readonly [path: string, read: (value: unknown) => unknown])[] = [
  ['actor.loss_scale_factor', off(0)],
  ['actor.ppo_micro_batch_size_per_gpu', off(0)],
  ['algorithm.overlong_buffer', off({ len: 0 })],
  ['algorithm.filter_groups', off({})],
  ['algorithm.filter_groups.metric', off('acc')],
  ['freeze.layers', (value) => (Array.isArray(value) ? value.join() : value)],
  ['algorithm.rollout_correction.rollout_is', off('off')],
  ['algorithm.rollout_correction.rollout_rs', off('')],
  [
    'algorithm.rollout_correction.rollout_rs_threshold',
    (value) => (typeof value === 'number' ? `${value}` : off('')(value)),
  ],
]

/** The node with what stands at a path below it read; the same node where nothing changes. */
function readAt(
  node: unknown,
  [name, ...below]: readonly string[],
  read: (value: unknown) => unknown,
): unknown {
  if (!isDocument(node) || !Object.hasOwn(node, name)) return node
  const value = below.length > 0 ? readAt(node[name], below, read) : read(node[name])
  return value === node[name] ? node : { ...node, [name]: value }
}

/** verl's null in an experiment and in its phases becomes the word that stands for it here. */
function withoutNulls(document: Document): Document {
  const plain = (node: unknown): unknown =>
    VERL_WORDS.reduce((rest, [path, read]) => readAt(rest, path.split('.'), read), node)
  const readPhases = (phases: unknown) => (Array.isArray(phases) ? phases.map(plain) : phases)
  return readAt(plain(document), ['phases'], readPhases) as Document
}

/** `max_response_length` defaults to what the task needs. */
function withResponseLength(document: Document): Document {
  const { rollout = {}, task = { id: TASKS[0].id } } = document
  if (!isDocument(rollout) || rollout.max_response_length !== undefined) return document
  const choice = taskSchema.safeParse(task)
  if (!choice.success) return document
  const { max_response_length } = taskOf(choice.data)
  return { ...document, rollout: { ...rollout, max_response_length } }
}

/**
 * One way to write each phase: the last layer's policy is the model's own, so it has one name, 'final'; what
 * sets nothing is left out.
 */
function tidyPhase(phase: PhaseDocument, layers: number): PhaseDocument {
  if (phase.kind !== 'rl') return phase
  const tidy = withoutEmpty(phase as unknown as Document) as unknown as typeof phase
  return phase.target_layer === layers ? { ...tidy, target_layer: 'final' } : tidy
}

const withoutEmpty = (document: Document): Document =>
  Object.fromEntries(
    Object.entries(document)
      .map(([name, value]) => [name, isDocument(value) ? withoutEmpty(value) : value] as const)
      .filter(([, v]) => v !== undefined && !(isDocument(v) && Object.keys(v).length === 0)),
  )

/** A stranger may name a field anything, at any length. */
const LONGEST_NAME = 60
const LONGEST_MESSAGE = 300
const shortened = (name: string): string =>
  name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name

/** What a schema says against a document, in our paths. */
export const schemaIssues = ({ issues }: z.core.$ZodError): Issue[] =>
  issues.flatMap((issue) => {
    const path = issue.path.map((part) => shortened(String(part)))
    const names = issue.code === 'unrecognized_keys' ? issue.keys : ['']
    return names.map((name) => ({
      path: (name === '' ? path : [...path, shortened(name)]).join('.'),
      message: issue.message.slice(0, LONGEST_MESSAGE),
    }))
  })

/**
 * The document with every default filled in, or everything that is wrong with it. Takes hostile input: nothing
 * throws, and what is too large is refused before it is looked at.
 */
export function parseExperiment(document: unknown): Parsed {
  const size = sizeIssue(document)
  if (size) return { ok: false, issues: [size] }
  const parsed = experimentSchema.safeParse(
    isDocument(document) ? withResponseLength(withoutNulls(document)) : document,
  )
  if (!parsed.success) return { ok: false, issues: schemaIssues(parsed.error) }
  const { data } = parsed
  const layers = data.model.num_hidden_layers
  const phases = data.phases.map((phase) => tidyPhase(phase, layers))
  const experiment = withEpochs({ ...data, phases })
  const issues = brokenRules(experiment)
  if (issues.length === 0 && experiment.steering.length > 0) {
    const { issue } = followExperiment(experiment)
    if (issue) issues.push(issue)
  }
  return issues.length > 0 ? { ok: false, issues } : { ok: true, experiment }
}

/** Whether two experiments say the same, whatever is done to them later. */
export const sameSettings = (a: Experiment, b: Experiment): boolean =>
  a === b || JSON.stringify({ ...a, steering: [] }) === JSON.stringify({ ...b, steering: [] })

/** The experiments that a run of this document goes through, as far as can be said before it. */
export const followExperiment = (
  experiment: Experiment,
  leaveOut?: (index: number, issue: Issue) => void,
) =>
  followSteering(
    { ...experiment, steering: [] },
    experiment.steering,
    steerExperiment,
    (phase) => phase.kind !== 'reward_model' && hasStop({ ...STOP_DEFAULTS, ...phase.stop }),
    leaveOut,
  )

/**
 * What an action makes of the experiment while phase `present` runs, of which `taken` steps are done, or why it cannot be
 * done. `at` names the part of the action that is wrong; '' = all of it.
 */
export function steerExperiment(
  experiment: Experiment,
  action: SteeringAction,
  present: number,
  taken: number,
):
  | { readonly ok: true; readonly experiment: Experiment; readonly ends?: PhaseReason }
  | { readonly ok: false; readonly at: string; readonly message: string } {
  if (action.kind === 'set') {
    const { path, value } = action
    const field = experimentFields(experiment).find((candidate) => candidate.path === path)
    const refuse = (at: string, message: string) => ({ ok: false, at, message }) as const
    if (!field) return refuse('path', `expected the path of a field, got ${show(path)}`)
    if (!isSteerable(field, present))
      return refuse(
        'path',
        `expected a field that may change while the run goes on (a live one, or one of a phase that has not begun); ${path} needs a new run`,
      )
    const set = withField(experiment, path, value ?? undefined)
    return set.ok ? set : refuse('value', set.message)
  }
  const edited = editPhases(experiment.phases, action, present, taken)
  if (!edited.ok) return edited
  const { phases, ends } = edited
  if (phases === experiment.phases) return { ok: true, experiment, ...(ends && { ends }) }
  const parsed = parseExperiment({ ...experiment, phases })
  if (parsed.ok) return { ok: true, experiment: parsed.experiment, ...(ends && { ends }) }
  const [{ path, message }] = parsed.issues
  return { ok: false, at: 'phase' in action ? 'phase' : '', message: `${path}: ${message}` }
}

/**
 * A phase with every default: what *Add phase* adds. Its estimator is that of the last rl phase `beside` it, for which the
 * experiment's batch is made.
 */
export function newPhase(
  kind: PhaseDocument['kind'],
  beside: readonly PhaseDocument[] = [],
): PhaseDocument {
  const parsed = parseExperiment({ phases: [{ kind }] })
  if (!parsed.ok)
    throw new RangeError(`newPhase: expected one of ${PHASE_KINDS.join(', ')}, got ${kind}`)
  const [phase] = parsed.experiment.phases
  const last = beside.filter((other) => other.kind === 'rl').at(-1)
  return phase.kind === 'rl' && last ? { ...phase, adv_estimator: last.adv_estimator } : phase
}

/** The sections that a phase may overlay with settings of its own, in the order of the form. */
const OVERRIDABLE = { rollout: ROLLOUT, actor: ACTOR, critic: CRITIC, algorithm: ALGORITHM }

function fieldsOf(
  experiment: Experiment,
  group: string,
  path: string,
  leaves: [string, Leaf<FieldValue>][],
): Field[] {
  return leaves.map(([name, { info }]) => {
    const at = path === '' ? name : `${path}.${name}`
    return {
      ...info,
      path: at,
      group,
      value: valueAt(experiment, at) as FieldValue,
      has_effect: true,
    }
  })
}

/** Offered where a reward model came before, which the settings of a phase alone do not tell. */
const CRITIC_INIT = 'critic.model.init'

/** What all rl phases share; it has an effect if it has one on some phase. */
function sharedFields(experiment: Experiment): Field[] {
  const phases = experiment.phases.filter((phase) => phase.kind === 'rl')
  const settings = phases.map((phase) => settingsOf(experiment, phase))
  return fieldsOf(experiment, '', '', leavesOf(OVERRIDABLE)).map((field) => ({
    ...field,
    group: groupOf(field.path),
    has_effect:
      settings.some((of) => hasEffect(field.path, of)) &&
      (field.path !== CRITIC_INIT ||
        experiment.phases.some((_, i) => mayChooseCritic(experiment, i))),
  }))
}

/** What an rl phase may set itself; its default is the experiment's own value. */
function overrideFields(
  experiment: Experiment,
  phase: RlDocument,
  index: number,
  begins_schedule: boolean,
): Field[] {
  const settings = settingsOf(experiment, phase)
  return leavesOf(OVERRIDABLE).map(([name, { info }]) => {
    const path = `phases.${index}.${name}`
    const own = valueAt(experiment, path) as FieldValue | undefined
    const shared = valueAt(experiment, name) as FieldValue
    return {
      ...info,
      path,
      group: `Phase ${index + 1}, own ${name.startsWith('critic.') ? 'critic' : 'settings'}`,
      value: own ?? shared,
      default: shared,
      is_overridden: own !== undefined,
      has_effect:
        hasOwnEffect(name, settings, begins_schedule) &&
        (name !== CRITIC_INIT || mayChooseCritic(experiment, index)),
    }
  })
}

/** Whether a setting of the optimizer of a phase without actor changes anything. */
const optimMatters = (name: string, { optim }: SftDocument | RewardModelDocument): boolean =>
  name !== 'optim.lr_warmup_steps_ratio' || warmsUpByShare(optim)

/** Whether a setting of a reward_model phase changes anything. */
function matters(name: string, source: RewardModelDocument['pairs']['source']): boolean {
  if (name === 'pairs.min_pairs') return source === 'human'
  return name !== 'pairs.verdicts' || source !== 'judge'
}

/** What ends a phase before its steps are over. */
function stopFields(
  experiment: Experiment,
  phase: Exclude<PhaseDocument, RewardModelDocument>,
  index: number,
): Field[] {
  const tree = phase.kind === 'sft' ? SFT.stop : RL.stop
  const group = `Phase ${index + 1}, ends early`
  return fieldsOf(experiment, group, `phases.${index}.stop`, leavesOf(tree)).map((field) => ({
    ...field,
    has_effect:
      !field.path.endsWith('_delta') || (phase.kind === 'rl' && phase.stop.plateau_steps > 0),
  }))
}

/** Epochs are offered where there is a set to go through, and say how many steps they come to. */
const withEpochsTold = (
  experiment: Experiment,
  phase: Exclude<PhaseDocument, RewardModelDocument>,
  fields: readonly Field[],
): Field[] =>
  fields.map((field) => {
    if (!/^phases\.\d+\.epochs$/.test(field.path)) return field
    if (!hasTrainingSet(experiment)) return { ...field, has_effect: false }
    return { ...field, help: `${field.help} ${epochWords(experiment, phase)}` }
  })

function phaseFields(experiment: Experiment, index: number): Field[] {
  const phase = experiment.phases[index]
  const path = `phases.${index}`
  const group = `Phase ${index + 1}`
  if (phase.kind === 'reward_model')
    return fieldsOf(experiment, group, path, leavesOf(REWARD_MODEL)).map((field) => {
      const name = field.path.slice(path.length + 1)
      return {
        ...field,
        has_effect: optimMatters(name, phase) && matters(name, phase.pairs.source),
      }
    })
  const stops = stopFields(experiment, phase, index)
  const begins_schedule = !continuesSchedule(experiment.phases, index)
  if (phase.kind === 'sft') {
    const isOffered = (name: string) => begins_schedule || !isOfSchedule(name)
    const own = fieldsOf(experiment, group, path, leavesOf({ ...SFT, stop: {} })).map((field) => {
      const name = field.path.slice(path.length + 1)
      return { ...field, has_effect: isOffered(name) && optimMatters(name, phase) }
    })
    return [...withEpochsTold(experiment, phase, own), ...stops]
  }
  const inner = Array.from({ length: experiment.model.num_hidden_layers - 1 }, (_, i) => i + 1)
  const options = [
    { value: 'final', label: 'whole model' },
    ...inner.map((value) => ({ value, label: `layer ${value}` })),
  ]
  const target = {
    ...TARGET_LAYER,
    options,
    group,
    value: phase.target_layer,
    has_effect: true,
  }
  const before = experiment.phases[index - 1]?.kind
  // A switch that could only be refused is left out of forms.
  const can_be_rewarded = phase.reward_model.enable || hasRewardModel(experiment.phases, index)
  const leaves = leavesOf({ ...RL, stop: {} })
  const own = leaves.map(([name]) =>
    name === 'reward_model.enable' ? can_be_rewarded : trainedHasEffect(name, phase, before),
  )
  const fields = fieldsOf(experiment, group, path, leaves).map((field, i) => ({
    ...field,
    has_effect: own[i],
  }))
  return [
    ...withEpochsTold(experiment, phase, fields),
    { ...target, path: `${path}.target_layer` },
    ...stops,
    ...overrideFields(experiment, phase, index, begins_schedule),
  ]
}

function taskFields(experiment: Experiment): Field[] {
  const kind = TASKS.find(({ id }) => id === experiment.task.id) ?? TASKS[0]
  const id: Field = {
    path: 'task.id',
    group: 'Task',
    label: 'Task',
    help: 'What the model learns to do; a program checks every answer.',
    unit: '',
    kind: 'select',
    options: TASKS.map((task) => ({ value: task.id, label: task.name })),
    value: kind.id,
    default: TASKS[0].id,
    live: false,
    has_effect: true,
  }
  const params = leavesOf(TASK_PARAMS.get(kind.id))
  return [id, ...fieldsOf(experiment, 'Task', 'task', params)]
}

/** The training set, which is no larger than the task. */
function dataFields(experiment: Experiment): Field[] {
  const { train_size } = taskOf(experiment.task)
  return fieldsOf(experiment, 'Data', 'data', leavesOf(DATA)).map((field) =>
    field.path === 'data.train_max_samples'
      ? { ...field, max: Math.min(train_size, field.max ?? train_size) }
      : { ...field, has_effect: hasTrainingSet(experiment) },
  )
}

/** Every field of an experiment, in the order of a form. */
export function experimentFields(experiment: Experiment): Field[] {
  const section = (group: string, path: string, tree: unknown) =>
    fieldsOf(experiment, group, path, leavesOf(tree))
  const length = taskOf(experiment.task).max_response_length
  const remarks = new Map(remarksOf(experiment).map(({ path, message }) => [path, message]))
  const fields = [
    ...section('Experiment', '', ROOT),
    ...taskFields(experiment),
    ...dataFields(experiment),
    ...section('Model', 'model', MODEL),
    ...experiment.phases.flatMap((_, i) => phaseFields(experiment, i)),
    ...sharedFields(experiment).map((field) =>
      field.path === 'rollout.max_response_length'
        ? { ...field, min: length, default: length }
        : field,
    ),
    ...section('Validation', 'validation', VALIDATION).map((field) => ({
      ...field,
      has_effect: validationHasEffect(
        field.path.slice('validation.'.length),
        experiment.validation,
      ),
    })),
    ...section('Probe', 'probe', PROBE),
    ...section('Kernels', '', KERNELS),
  ]
  return fields.map((field) => {
    const remark = remarks.get(field.path)
    return remark === undefined ? field : { ...field, remark }
  })
}

const PAIR = /^((?:.+\.)?optim\.betas)\.([01])$/

/** Sets one half of a pair. A phase's own pair begins as the experiment's, and ends when it is the same again. */
function setPair(
  experiment: Experiment,
  document: Document,
  path: string,
  half: number,
  value: unknown,
): boolean {
  const fields = experimentFields(experiment).filter((field) => field.path.startsWith(`${path}.`))
  if (fields.length !== 2) return false
  const pair = fields.map((field, i) => (i === half ? (value ?? field.default) : field.value))
  const ends = value === undefined && pair.every((v, i) => v === fields[i].default)
  return setAt(document, path, ends ? undefined : pair)
}

/**
 * The experiment with one field changed; `undefined` brings its default back. `path` may also name a whole part,
 * e.g. 'phases'. A number of steps ends a number of epochs. A new task brings its own parameters and, if need be, room for its longer answers.
 */
export function withField(
  experiment: Experiment,
  path: string,
  value: unknown,
):
  | { readonly ok: true; readonly experiment: Experiment }
  | { readonly ok: false; readonly message: string } {
  const document = structuredClone(experiment) as unknown as Document
  const pair = PAIR.exec(path)
  const set =
    path === 'task.id'
      ? setAt(document, 'task', value === undefined ? undefined : { id: value })
      : pair
        ? setPair(experiment, document, pair[1], Number(pair[2]), value)
        : setAt(document, path, value)
  if (!set) return { ok: false, message: `${path} is no field of an experiment` }
  // Whoever says a number of steps no longer says a number of epochs.
  const counted = /^(phases\.\d+)\.steps$/.exec(path)
  if (counted && valueAt(document, `${counted[1]}.epochs`) !== undefined)
    setAt(document, `${counted[1]}.epochs`, 0)
  let parsed = parseExperiment(document)
  if (path.startsWith('task')) {
    const before = taskOf(experiment.task).max_response_length
    const kept = experiment.rollout.max_response_length
    if (!parsed.ok || kept === before) {
      setAt(document, 'rollout.max_response_length', undefined)
      parsed = parseExperiment(document)
    }
  }
  if (parsed.ok) return parsed
  const [issue] = parsed.issues
  return { ok: false, message: `${issue.path}: ${issue.message}` }
}
