// The experiment document: parsing, the rules between its fields, its phases resolved, and the form drawn from it.
import { TASKS } from '../tasks/index.ts'
import type { FieldInfo, FieldValue } from './fields.ts'
import { type Leaf, leavesOf } from './fields.ts'
import { type Document, type Issue, isDocument, setAt, sizeIssue, valueAt } from './paths.ts'
import { brokenRules, taskOf } from './rules.ts'
import {
  ACTOR,
  ALGORITHM,
  type Experiment,
  experimentSchema,
  MODEL,
  type PhaseDocument,
  PROBE,
  RL,
  ROLLOUT,
  ROOT,
  SFT,
  TARGET_LAYER,
  TASK_PARAMS,
  taskSchema,
  VALIDATION,
} from './schema.ts'

export type { FieldKind, FieldOption, FieldValue } from './fields.ts'
export type { Issue } from './paths.ts'
export { resolvePhases, taskOf } from './rules.ts'
export type { Experiment, ModelFields, PhaseDocument, RlDocument, TaskChoice } from './schema.ts'
export { EXPERIMENT_VERSION, MAX_LAYERS, MAX_PHASES } from './schema.ts'

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
}

/**
 * Settings of verl that have one value here: a document may state them, and any other value is refused like an
 * unknown field. GRPO has no critic, so gamma and lam change nothing.
 */
const STATED: readonly (readonly [path: string, value: unknown])[] = [
  ['critic', {}],
  ['algorithm.gamma', 1],
  ['algorithm.lam', 1],
  ['algorithm.use_kl_in_reward', false],
  ['actor.use_kl_loss', false],
]

/** Leaves out what STATED allows to be said. */
function withoutStated(document: Document): Document {
  return STATED.reduce((rest, [path, value]) => {
    const [section, name] = path.split('.')
    const at = name ? rest[section] : rest
    const key = name ?? section
    if (!isDocument(at) || JSON.stringify(at[key]) !== JSON.stringify(value)) return rest
    const { [key]: _, ...others } = at
    return name ? { ...rest, [section]: others } : others
  }, document)
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
  if (phase.kind === 'sft') return phase
  const tidy = withoutEmpty(phase as unknown as Document) as unknown as typeof phase
  return phase.target_layer === layers ? { ...tidy, target_layer: 'final' } : tidy
}

const withoutEmpty = (document: Document): Document =>
  Object.fromEntries(
    Object.entries(document)
      .map(([name, value]) => [name, isDocument(value) ? withoutEmpty(value) : value] as const)
      .filter(([, v]) => v !== undefined && !(isDocument(v) && Object.keys(v).length === 0)),
  )

/**
 * The document with every default filled in, or everything that is wrong with it. Takes hostile input: nothing
 * throws, and what is too large is refused before it is looked at.
 */
export function parseExperiment(document: unknown): Parsed {
  const size = sizeIssue(document)
  if (size) return { ok: false, issues: [size] }
  const parsed = experimentSchema.safeParse(
    isDocument(document) ? withResponseLength(withoutStated(document)) : document,
  )
  if (!parsed.success)
    return {
      ok: false,
      issues: parsed.error.issues.flatMap((issue) => {
        const path = issue.path.map(String)
        const names = issue.code === 'unrecognized_keys' ? issue.keys : ['']
        return names.map((name) => ({
          path: (name === '' ? path : [...path, name]).join('.'),
          message: issue.message,
        }))
      }),
    }
  const { data } = parsed
  const layers = data.model.num_hidden_layers
  const phases = data.phases.map((phase) => tidyPhase(phase, layers))
  const experiment = { ...data, phases }
  const issues = brokenRules(experiment)
  return issues.length > 0 ? { ok: false, issues } : { ok: true, experiment }
}

/** A phase with every default: what *Add phase* adds. */
export function newPhase(kind: PhaseDocument['kind']): PhaseDocument {
  const parsed = parseExperiment({ phases: [{ kind }] })
  if (!parsed.ok) throw new RangeError(`newPhase: expected 'sft' or 'rl', got ${kind}`)
  return parsed.experiment.phases[0]
}

function fieldsOf(
  experiment: Experiment,
  group: string,
  path: string,
  leaves: [string, Leaf<FieldValue>][],
): Field[] {
  return leaves.map(([name, { info }]) => {
    const at = path === '' ? name : `${path}.${name}`
    return { ...info, path: at, group, value: valueAt(experiment, at) as FieldValue }
  })
}

/** What an rl phase may set itself; its default is the experiment's own value. */
function overrideFields(experiment: Experiment, index: number): Field[] {
  const sections = { rollout: ROLLOUT, actor: ACTOR, algorithm: ALGORITHM }
  return leavesOf(sections).map(([name, { info }]) => {
    const path = `phases.${index}.${name}`
    const own = valueAt(experiment, path) as FieldValue | undefined
    const shared = valueAt(experiment, name) as FieldValue
    return {
      ...info,
      path,
      group: `Phase ${index + 1}, own settings`,
      value: own ?? shared,
      default: shared,
      is_overridden: own !== undefined,
    }
  })
}

function phaseFields(experiment: Experiment, index: number): Field[] {
  const phase = experiment.phases[index]
  const path = `phases.${index}`
  const group = `Phase ${index + 1}`
  if (phase.kind === 'sft') return fieldsOf(experiment, group, path, leavesOf(SFT))
  const inner = Array.from({ length: experiment.model.num_hidden_layers - 1 }, (_, i) => i + 1)
  const options = [
    { value: 'final', label: 'whole model' },
    ...inner.map((value) => ({ value, label: `layer ${value}` })),
  ]
  const target = { ...TARGET_LAYER, options, group, value: phase.target_layer }
  return [
    ...fieldsOf(experiment, group, path, leavesOf(RL)),
    { ...target, path: `${path}.target_layer` },
    ...overrideFields(experiment, index),
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
  }
  const params = leavesOf(TASK_PARAMS.get(kind.id))
  return [id, ...fieldsOf(experiment, 'Task', 'task', params)]
}

/** Every field of an experiment, in the order of a form. */
export function experimentFields(experiment: Experiment): Field[] {
  const section = (group: string, path: string, tree: unknown) =>
    fieldsOf(experiment, group, path, leavesOf(tree))
  const length = taskOf(experiment.task).max_response_length
  return [
    ...section('Experiment', '', ROOT),
    ...taskFields(experiment),
    ...section('Model', 'model', MODEL),
    ...experiment.phases.flatMap((_, i) => phaseFields(experiment, i)),
    ...section('Rollout', 'rollout', ROLLOUT).map((field) =>
      field.path === 'rollout.max_response_length'
        ? { ...field, min: length, default: length }
        : field,
    ),
    ...section('Actor', 'actor', ACTOR),
    ...section('Algorithm', 'algorithm', ALGORITHM),
    ...section('Validation', 'validation', VALIDATION),
    ...section('Probe', 'probe', PROBE),
  ]
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
 * e.g. 'phases'. A new task brings its own parameters and, if need be, room for its longer answers.
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
