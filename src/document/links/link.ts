// Writes and reads share links: a readable query that says what differs from a preset. Takes
// hostile input and never throws.

import { type FieldValue, show } from '../../rl/fields/field.ts'
import { newPhase, parseExperiment } from '../experiment/experiment.ts'
import { type Issue, setAt, valueAt } from '../experiment/fields/paths.ts'
import { PHASE_KINDS, type PhaseDocument } from '../experiment/fields/phases.ts'
import { TASK_PARAMS, type TaskChoice } from '../experiment/fields/task_fields.ts'
import { toolsText } from '../experiment/lists/tools.ts'
import { hasRewardModel } from '../experiment/rules/phase_rules.ts'
import { type DocumentField, documentFields } from '../experiment/schema/document_fields.ts'
import { EXPERIMENT_VERSION, type Experiment, MAX_PHASES } from '../experiment/schema/schema.ts'
import { OPENING, PRESETS, type Preset, presetOf } from '../presets/presets.ts'
import { withParts } from './reward_link.ts'
import { readSteering, withSteering, writeEntry } from './steering_link.ts'

/** Longer links are cut or turned into files by some chat programs. */
export const MAX_LINK_LENGTH = 2000
/** Longer queries are not read at all. */
const MAX_QUERY_LENGTH = 8000
const MAX_KEYS = 400
/** Times that the settings of a link are parsed, each time without one more that breaks a rule. No
 * link of ours breaks one. */
const MAX_ROUNDS = 32
const PAIR = /^(phases\.\d+\.(actor|critic)\.optim\.betas)\.[01]$/
/** In a link: this phase takes the experiment's own value, although the preset's phase sets one. */
const INHERIT = 'inherit'

export interface DecodedLink {
  readonly experiment: Experiment
  /** The preset that the link starts from. */
  readonly preset_id: string
  /** What could not be understood, in plain sentences; empty when all is well. */
  readonly notices: readonly string[]
}

type Kind = PhaseDocument['kind']

const parsedOrThrow = (document: unknown): Experiment => {
  const parsed = parseExperiment(document)
  if (!parsed.ok) throw new RangeError(`${parsed.issues[0].path}: ${parsed.issues[0].message}`)
  return parsed.experiment
}

const sameTask = (a: TaskChoice, b: TaskChoice): boolean =>
  a.id === b.id && Object.keys(a).every((name) => a[name] === b[name])

/** The defaults of each task that was asked for. */
const taskDefaults = new Map<string, TaskChoice>()

/** The parameters a task starts from: the preset's, or the defaults of another task. */
function startTask(preset: Preset, id: string): TaskChoice {
  if (id === preset.experiment.task.id) return preset.experiment.task
  const known = taskDefaults.get(id) ?? parsedOrThrow({ task: { id } }).task
  taskDefaults.set(id, known)
  return known
}

/** What the answers of rows are is a field like others: whether phases and rewards suit them is
 * known only with all that a link says. */
const ANSWERS = 'task.answers'
const withTexts = (task: TaskChoice): TaskChoice =>
  'answers' in task ? { ...task, answers: 'text' } : task

/** What each preset's last link started from: the next one, after an edit, mostly starts there,
 * too, and parsing every preset again would take most of the time. */
const starts = new Map<Preset, { readonly key: string; readonly start: Experiment }>()

/** What encoding and decoding both start from. */
function startOf(preset: Preset, kinds: readonly Kind[], task: TaskChoice): Experiment {
  const key = JSON.stringify([kinds, task])
  const last = starts.get(preset)
  if (last?.key === key) return last.start
  const start = newStart(preset, kinds, task)
  starts.set(preset, { key, start })
  return start
}

/** The preset, with phases of these kinds and with this task; another task brings the response
 * length that it needs, and begins without tools, without a curriculum over what the preset's was
 * and without its set of problems, of which it may have fewer, and its vocabulary may have other
 * sizes. */
function newStart(preset: Preset, kinds: readonly Kind[], task: TaskChoice): Experiment {
  const base = preset.experiment
  const { max_response_length, max_turns, ...other } = base.rollout
  const rollout = task.id === base.task.id ? { ...other, max_turns } : other
  const { shuffle } = base.data
  const phases = kinds.map((kind, i) =>
    base.phases[i]?.kind === kind ? base.phases[i] : newPhase(kind, base.phases),
  )
  const { critic } = base
  const isJudged = phases.every(({ kind }, i) => kind !== 'rl' || hasRewardModel(phases, i))
  return parsedOrThrow({
    ...base,
    task,
    // Nor can its critic begin as a reward model that these phases do not train.
    critic: isJudged ? critic : { ...critic, model: { init: 'actor' } },
    data: sameTask(task, base.task) ? base.data : { shuffle },
    teacher: task.id === base.task.id ? base.teacher : { ...base.teacher, vocab_size: null },
    rollout: sameTask(task, base.task) ? base.rollout : rollout,
    tools: task.id === base.task.id ? base.tools : [],
    // The preset's phase may have scored with a reward model that these phases do not train.
    phases: phases.map((phase, i) =>
      'reward_model' in phase && !hasRewardModel(phases, i)
        ? { ...phase, reward_model: { enable: false } }
        : phase,
    ),
  })
}

const kindsOf = (experiment: Experiment): Kind[] => experiment.phases.map(({ kind }) => kind)
/** Undefined for what a phase leaves to the experiment. */
const ownValue = ({ value, isOverridden }: DocumentField): FieldValue | undefined =>
  isOverridden === false ? undefined : value

/** What an experiment has at a path, as its field writes it. */
const startValue = (start: Experiment, path: string): unknown =>
  path === 'tools' ? toolsText(start.tools) : valueAt(start, path)

const escaped = (text: string) =>
  encodeURIComponent(text).replaceAll('%20', '+').replaceAll('%2C', ',').replaceAll('%3A', ':')

/** The query from this preset on; undefined when it is longer than `longest`. */
function linkFrom(
  preset: Preset,
  experiment: Experiment,
  fields: DocumentField[],
  longest: number,
): string | undefined {
  let link = `v=${EXPERIMENT_VERSION}&p=${preset.id}`
  const say = (path: string, value: FieldValue) => {
    link += `&${path}=${escaped(`${value}`)}`
  }
  // A text may be the word null.
  const worded = (kind: DocumentField['kind'] | undefined, value: FieldValue) =>
    value === null && kind === 'text' ? '' : value
  const { task } = experiment
  const kinds = kindsOf(experiment)
  if (kinds.join() !== kindsOf(preset.experiment).join()) say('phases', kinds.join())
  if (task.id !== preset.experiment.task.id) say('task.id', task.id)
  const before = startTask(preset, task.id)
  for (const name of Object.keys(task))
    if (task[name] !== before[name] && `task.${name}` !== ANSWERS)
      say(`task.${name}`, worded(TASK_PARAMS.get(task.id)?.[name]?.info.kind, task[name]))
  const parts = JSON.stringify(experiment.reward.parts)
  if (parts !== JSON.stringify(preset.experiment.reward.parts)) say('reward.parts', parts)
  // Most presets are out by now, and what another one starts from takes a millisecond to parse.
  if (link.length > longest) return undefined
  const start = startOf(preset, kinds, withTexts(task))
  for (const field of fields) {
    const value = ownValue(field)
    if (value === startValue(start, field.path)) continue
    say(field.path, value === undefined ? INHERIT : worded(field.kind, value))
    if (link.length > longest) return undefined
  }
  return link
}

/** The query of a link, without '?': `v`, the nearest preset `p`, and the fields that differ from
 * it, e.g. `v=1&p=tiny&seed=3&phases.1.steps=20`. Only experiments with most fields of many phases
 * changed come out longer than MAX_LINK_LENGTH; the caller says so. */
export function encodeLink(experiment: Experiment): string {
  const fields = documentFields(experiment)
  const kinds = kindsOf(experiment).join()
  const isFar = ({ experiment: other }: Preset) =>
    +(other.task.id !== experiment.task.id || kindsOf(other).join() !== kinds)
  let best: string | undefined
  let nearest = 0
  // Those with these phases and this task first: their links are short, and others soon longer.
  for (const i of [...PRESETS.keys()].sort((a, b) => isFar(PRESETS[a]) - isFar(PRESETS[b]))) {
    // Of two of the same length, that of the first preset.
    const longest = best === undefined ? Infinity : best.length - +(i > nearest)
    const link = linkFrom(PRESETS[i], experiment, fields, longest)
    if (link === undefined) continue
    best = link
    nearest = i
  }
  const steering = experiment.steering.map(
    (entry, i) => `steering.${i}=${escaped(writeEntry(entry))}`,
  )
  return [best, ...steering].join('&')
}

/** The experiment of a link's query. Each problem becomes a notice and leaves the preset's value;
 * whatever else the link says still counts. */
export function decodeLink(query: string): DecodedLink {
  const notices: string[] = []
  const pairs = readPairs(query, notices)
  readVersion(pairs, notices)
  const preset = readPreset(pairs, notices)
  const kinds = readKinds(pairs, preset, notices)
  const task = readTask(pairs, preset, notices)
  const parts = take(pairs, 'reward.parts')
  const start = withParts(startOf(preset, kinds, task), parts, notices)
  const steering = readSteering(pairs, notices)
  const experiment = withSteering(readFields(pairs, start, notices), steering, notices)
  return { experiment, preset_id: preset.id, notices }
}

type Pairs = Map<string, string>

/** Names and values of a query; the first of several counts. */
function readPairs(query: string, notices: string[]): Pairs {
  const pairs: Pairs = new Map()
  const text = query.replace(/^[?#]+/, '')
  const parts = text.split('&', MAX_KEYS + 1)
  if (text.length > MAX_QUERY_LENGTH || parts.length > MAX_KEYS) {
    notices.push(
      `The link is too long to be one of ours (${text.length} characters), so nothing of it was read.`,
    )
    return pairs
  }
  for (const part of parts) {
    if (part === '') continue
    const at = part.indexOf('=')
    const [name, value] = at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)]
    try {
      const key = decodeURIComponent(name.replaceAll('+', ' '))
      const decoded = decodeURIComponent(value.replaceAll('+', ' '))
      if (pairs.has(key)) notices.push(`${show(key)} is in the link twice; the first one counts.`)
      else pairs.set(key, decoded)
    } catch {
      notices.push(`${show(part)} is not written as links are, so it was left out.`)
    }
  }
  return pairs
}

function take(pairs: Pairs, name: string): string | undefined {
  const value = pairs.get(name)
  pairs.delete(name)
  return value
}

function readVersion(pairs: Pairs, notices: string[]): void {
  const version = take(pairs, 'v')
  if (version === undefined || version === `${EXPERIMENT_VERSION}`) return
  notices.push(
    Number(version) > EXPERIMENT_VERSION
      ? `The link was made by a newer version (${show(version)}); what is known here was taken from it.`
      : `The link names an unknown version (${show(version)}); it was read as version ${EXPERIMENT_VERSION}.`,
  )
}

function readPreset(pairs: Pairs, notices: string[]): Preset {
  const id = take(pairs, 'p')
  const preset = id === undefined ? PRESETS[0] : presetOf(id)
  if (preset) return preset
  // Its link was of another version. The experiment of a first visit is short.
  notices.push(`There is no preset ${show(id)}; ‘${OPENING.name}’ was taken instead.`)
  return OPENING
}

function readKinds(pairs: Pairs, preset: Preset, notices: string[]): Kind[] {
  const kept = kindsOf(preset.experiment)
  const text = take(pairs, 'phases')
  if (text === undefined) return kept
  const kinds = text.split(',', MAX_PHASES + 1)
  const legal = (kind: string): kind is Kind => (PHASE_KINDS as readonly string[]).includes(kind)
  if (kinds.length <= MAX_PHASES && kinds.every(legal)) return kinds
  notices.push(
    `phases: expected 1 to ${MAX_PHASES} of ${PHASE_KINDS.join(', ')} with commas, got ${show(text)}. Kept ${kept.join(',')}.`,
  )
  return kept
}

function readTask(pairs: Pairs, preset: Preset, notices: string[]): TaskChoice {
  const id = take(pairs, 'task.id') ?? preset.experiment.task.id
  const named = parseExperiment({ task: { id } })
  const kept = preset.experiment.task
  if (!named.ok) notices.push(`task.id: ${named.issues[0].message}. Kept ${show(kept.id)}.`)
  const start = named.ok ? startTask(preset, id) : kept
  const params = new Map(
    [...pairs].filter(([path]) => path.startsWith('task.') && path !== ANSWERS),
  )
  for (const path of params.keys()) pairs.delete(path)
  const known = parsedOrThrow({ task: start, phases: [{ kind: 'sft' }] })
  return readFields(params, known, notices).task
}

/** A link's text as the kind of value that the field holds; undefined when it is none. */
function readValue({ kind, none }: DocumentField, text: string): FieldValue | undefined {
  if (kind === 'text') return text
  if (none !== undefined && text === 'null') return null
  const isNumber = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text)
  if (kind === 'select') return /^\d+$/.test(text) ? Number(text) : text
  if (kind === 'boolean') return text === 'true' ? true : text === 'false' ? false : undefined
  return isNumber ? Number(text) : undefined
}

/** Sets what the link says on `start`, leaving out whatever breaks a rule. */
function readFields(pairs: Pairs, start: Experiment, notices: string[]): Experiment {
  const fields = new Map(documentFields(start).map((field) => [field.path, field]))
  const values = new Map<string, FieldValue | undefined>()
  const unknown: string[] = []
  for (const [path, text] of pairs) {
    const field = fields.get(path)
    if (!field) {
      unknown.push(path)
      continue
    }
    const inherits = text === INHERIT && field.isOverridden !== undefined
    const value = inherits ? undefined : readValue(field, text)
    if (value === undefined && !inherits) {
      const kind = field.kind === 'boolean' ? 'true or false' : 'a number'
      notices.push(`${path}: expected ${kind}, got ${show(text)}. Kept ${field.value ?? 'none'}.`)
    } else values.set(path, value)
  }
  if (unknown.length > 0) {
    const shown = unknown.slice(0, 5).map(show).join(', ')
    const more = unknown.length > 5 ? ` and ${unknown.length - 5} more` : ''
    notices.push(`Not understood and left out: ${shown}${more}.`)
  }
  const leaveOut = (path: string, { path: at, message }: Issue) => {
    values.delete(path)
    notices.push(`${at}: ${message}. ${path} stays at ${fields.get(path)?.value}.`)
  }
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const parsed = parseExperiment(withValues(start, values))
    if (parsed.ok) return parsed.experiment
    if (values.size === 0) return start
    const [first, ...others] = parsed.issues
    leaveOut(culprit(first, values), first)
    // A value that is illegal alone stays illegal when others are left out; a rule between fields
    // may hold without the first culprit.
    for (const issue of others) {
      const path = issue.involved ? undefined : ownValueOf(issue, values)
      if (path !== undefined) leaveOut(path, issue)
    }
  }
  notices.push(
    `Left out, because too much of the link breaks rules: ${[...values.keys()].slice(0, 5).join(', ')} and what goes with it.`,
  )
  return start
}

/** The value to leave out because of an issue. There is one as long as `start` itself is sound. */
function culprit(issue: Issue, values: Map<string, unknown>): string {
  const named =
    ownValueOf(issue, values) ?? issue.involved?.find((involved) => values.has(involved))
  return named ?? ([...values.keys()].pop() as string)
}

/** The value that an issue is of; for half of a pair, the pair. */
const ownValueOf = ({ path }: Issue, values: Map<string, unknown>): string | undefined =>
  [path, `${path}.0`, `${path}.1`].find((name) => values.has(name))

function withValues(start: Experiment, values: Map<string, FieldValue | undefined>): unknown {
  const document = structuredClone(start)
  for (const [path, value] of values) {
    // A phase's own pair starts as the experiment's.
    const pair = PAIR.exec(path)
    if (pair && valueAt(document, pair[1]) === undefined)
      setAt(document, pair[1], [...start[pair[2] as 'actor' | 'critic'].optim.betas])
    setAt(document, pair && value === undefined ? pair[1] : path, value)
  }
  return document
}
