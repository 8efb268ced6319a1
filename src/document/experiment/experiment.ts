// Parses, edits and steers an experiment. They lie together because each needs the next:
// an edit is parsed, parsing follows
// the document's steering, and steering edits.
import type * as z from 'zod/mini'
import { hasStop, type PhaseReason, STOP_DEFAULTS } from '../../rl/config/phase.ts'
import { show } from '../../rl/fields/field.ts'
import { TASKS } from '../../tasks/index.ts'
import { type Document, type Issue, isDocument, setAt, sizeIssue, valueAt } from './fields/paths.ts'
import { PHASE_KINDS, type PhaseDocument } from './fields/phases.ts'
import { readKernels } from './fields/pinned_kernels.ts'
import { taskOf, taskSchema } from './fields/task_fields.ts'
import { brokenRules } from './rules/rules.ts'
import { documentFields } from './schema/document_fields.ts'
import { withEpochs } from './schema/epochs.ts'
import { type Experiment, experimentSchema } from './schema/schema.ts'
import { withoutNulls } from './schema/verl_words.ts'
import { type SteeringAction, valueSet } from './steering/actions.ts'
import { editPhases, isSteerable } from './steering/edit_phases.ts'
import { followSteering } from './steering/follow.ts'

/** An experiment, or everything that is wrong with its document. */
export type Parsed =
  | { readonly ok: true; readonly experiment: Experiment }
  | { readonly ok: false; readonly issues: readonly Issue[] }

/** What understory.json of an exported job or model was made from; any other document is the
 * experiment itself. */
export const experimentIn = (document: unknown): unknown =>
  isDocument(document) && /^understory-(job|model)-/.test(String(document.format))
    ? document.experiment
    : document

/** `max_response_length` defaults to what the task needs. */
export function withResponseLength(document: Document): Document {
  const { rollout = {}, task = { id: TASKS[0].id } } = document
  if (!isDocument(rollout) || rollout.max_response_length !== undefined) return document
  const choice = taskSchema.safeParse(task)
  if (!choice.success) return document
  const { max_response_length } = taskOf(choice.data)
  return { ...document, rollout: { ...rollout, max_response_length } }
}

/** One way to write each phase: the last layer's policy is the model's own, so it has one name,
 * 'final'; what sets nothing is left out. */
function tidyPhase(phase: PhaseDocument, layers: number): PhaseDocument {
  if (!('target_layer' in phase)) return phase
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

/** Room for the ids of all tasks: the error for a wrong one lists the right ones, and what was
 * written. */
const LONGEST_MESSAGE = 1000

const shortened = (name: string): string =>
  name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name

/** What zod says where it has no language: the page loads none. */
const UNSAID = 'Invalid input'

function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.message !== UNSAID) return issue.message.slice(0, LONGEST_MESSAGE)
  if (issue.code === 'invalid_type') return `expected ${issue.expected}`
  if (issue.code === 'invalid_value') return `expected one of ${issue.values.join(', ')}`
  if (issue.code === 'too_small') {
    const { minimum, origin } = issue
    if (origin === 'array') return `expected at least ${minimum} entries`
    if (origin === 'string') return `expected at least ${minimum} characters`
    return `expected at least ${minimum}`
  }
  if (issue.code === 'too_big') {
    const { maximum, origin } = issue
    if (origin === 'array') return `expected at most ${maximum} entries`
    if (origin === 'string') return `expected at most ${maximum} characters`
    return `expected at most ${maximum}`
  }
  return issue.code === 'unrecognized_keys' ? 'there is no such field' : UNSAID
}

/** What a schema says against a document, in our paths. */
export const schemaIssues = ({ issues }: z.core.$ZodError): Issue[] =>
  issues.flatMap((issue) => {
    const path = issue.path.map((part) => shortened(String(part)))
    const names = issue.code === 'unrecognized_keys' ? issue.keys : ['']
    return names.map((name) => ({
      path: (name === '' ? path : [...path, shortened(name)]).join('.'),
      message: messageOf(issue),
    }))
  })

/** The document with every default filled in, or everything that is wrong with it. Takes hostile
 * input: nothing throws, and what is too large is refused before it is parsed. */
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

const settingsTexts = new WeakMap<Experiment, string>()

/** Of all but what is done later; written once, as the page compares with every step of a run. */
function settingsText(experiment: Experiment): string {
  const text = settingsTexts.get(experiment) ?? JSON.stringify({ ...experiment, steering: [] })
  settingsTexts.set(experiment, text)
  return text
}

/** Whether two experiments say the same, whatever is done to them later. */
export const sameSettings = (a: Experiment, b: Experiment): boolean =>
  a === b || settingsText(a) === settingsText(b)

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

/** What an action makes of the experiment while phase `present` runs, of which `taken` steps are
 * done, or why it cannot be done. `at` names the part of the action that is wrong; '' = all of
 * it. */
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
    const field = documentFields(experiment).find((candidate) => candidate.path === path)
    const refuse = (at: string, message: string) => ({ ok: false, at, message }) as const
    if (!field) return refuse('path', `expected the path of a field, got ${show(path)}`)
    if (!isSteerable(field, present))
      return refuse(
        'path',
        `expected a field that may change during a run (a live one, or one of a phase that has not begun); ${path} needs a new run`,
      )
    const set = withField(experiment, path, valueSet(field, value))
    return set.ok ? set : refuse('value', set.message)
  }
  if (action.kind === 'kernels') {
    const read = readKernels(action.kernels)
    return read.ok ? { ok: true, experiment } : { ok: false, at: 'kernels', message: read.problem }
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

/** Each kind's phase with every default: links begin with many. */
const newPhases = new Map<string, PhaseDocument>()

/** A phase with every default: what *Add phase* adds. Its estimator is that of the last rl phase
 * `beside` it, for which the experiment's batch is made. */
export function newPhase(
  kind: PhaseDocument['kind'],
  beside: readonly PhaseDocument[] = [],
): PhaseDocument {
  const phase = newPhases.get(kind) ?? defaultPhase(kind)
  newPhases.set(kind, phase)
  const last = beside.filter((other) => other.kind === 'rl').at(-1)
  return phase.kind === 'rl' && last ? { ...phase, adv_estimator: last.adv_estimator } : phase
}

function defaultPhase(kind: PhaseDocument['kind']): PhaseDocument {
  // No other kind must have an inner layer; 1 is one of every model that has any.
  const inner = kind === 'distill' ? { target_layer: 1 } : {}
  const parsed = parseExperiment({ phases: [{ kind, ...inner }] })
  if (!parsed.ok)
    throw new RangeError(`newPhase: expected one of ${PHASE_KINDS.join(', ')}, got ${kind}`)
  return parsed.experiment.phases[0]
}

const PAIR = /^((?:.+\.)?optim\.betas)\.([01])$/

/** Sets one half of a pair. A phase's own pair begins as the experiment's, and ends when it is the
 * same again. */
function setPair(
  experiment: Experiment,
  document: Document,
  path: string,
  half: number,
  value: unknown,
): boolean {
  const fields = documentFields(experiment).filter((field) => field.path.startsWith(`${path}.`))
  if (fields.length !== 2) return false
  const pair = fields.map((field, i) => (i === half ? (value ?? field.default) : field.value))
  const ends = value === undefined && pair.every((v, i) => v === fields[i].default)
  return setAt(document, path, ends ? undefined : pair)
}

/** The experiment with one field changed; `undefined` brings its default back. `path` may also name
 * a whole part, e.g. 'phases'. A number of steps ends a number of epochs. A new task brings its own
 * parameters and, if need be, room for its longer answers. */
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
  // A number of steps replaces a number of epochs.
  const counted = /^(phases\.\d+)\.steps$/.exec(path)
  if (counted && valueAt(document, `${counted[1]}.epochs`) !== undefined)
    setAt(document, `${counted[1]}.epochs`, null)
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
