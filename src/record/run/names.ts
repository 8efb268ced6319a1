// What is special about a run, in a few words.
import type { FieldValue } from '../../document/experiment/fields/field.ts'
import type { Experiment } from '../../document/experiment/schema.ts'
import { doneByHand } from '../../document/experiment/steering/steered_kernels.ts'
import { PRESETS, presetOf } from '../../document/presets/presets.ts'
import { leavesOf } from './leaves.ts'
import type { RunHeader, RunLabels } from './record.ts'

const MAX_WORDS = 3
/** Of a whole name. */
const MAX_LENGTH = 160
/** Of a value that is said in a name. */
const MAX_TEXT = 24
/** What a person did in a run, or what it ran on: no setting that anyone chose. */
const UNNAMED = /^kernels$|\.verdicts$/

/** A number as people write it: 0.0003 as 3e-4. */
function valueText(value: FieldValue): string {
  if (typeof value !== 'number') return `${value}`
  const size = Math.abs(value)
  const is_plain = value === 0 || (size >= 1e-3 && size < 1e6)
  return is_plain
    ? String(Number(value.toPrecision(6)))
    : Number(value.toPrecision(6)).toExponential().replace('e+', 'e')
}

/** Where two experiments with other phases cannot be compared field by field. */
const kindsOf = ({ phases }: Experiment) => phases.map(({ kind }) => kind).join()

/** 'phases.2.steps' as 'P3 steps', 'actor.optim.lr' as 'lr'. */
function shortName(path: string): string {
  const names = path.split('.')
  const is_pair = /^[01]$/.test(names[names.length - 1])
  const last = (is_pair ? names.slice(-2).join(' ') : names[names.length - 1]).replaceAll('_', ' ')
  const phase = /^phases\.(\d+)\./.exec(path)
  const whose = names.includes('critic') ? 'critic ' : ''
  return phase ? `P${Number(phase[1]) + 1} ${whose}${last}` : `${whose}${last}`
}

function changeText(
  path: string,
  value: FieldValue | undefined,
  before: FieldValue | undefined,
): string {
  if (path.endsWith('.target_layer')) return value === 'final' ? 'final layer' : `layer ${value}`
  const name = shortName(path)
  // A list of verdicts or a text of one's own is no name.
  if (typeof value === 'string' && value.length > MAX_TEXT) return `own ${name}`
  if (value === undefined) return `${name} as shared`
  if (typeof value === 'boolean') return value ? `+${name}` : `−${name}`
  if (typeof value === 'string' || path === 'seed' || before === undefined)
    return `${name} ${valueText(value)}`
  return `${name} ${valueText(before)} → ${valueText(value)}`
}

/** What an experiment says otherwise than another one, in words. */
function changes(experiment: Experiment, from: Experiment): string[] {
  const [now, before] = [leavesOf(experiment), leavesOf(from)]
  const is_same_task = experiment.task.id === from.task.id
  const is_same_list = kindsOf(experiment) === kindsOf(from)
  const words: string[] = []
  if (!is_same_task) words.push(experiment.task.id.replaceAll('_', ' '))
  if (!is_same_list) words.push(`phases ${kindsOf(experiment).replaceAll(',', ', ')}`)
  for (const path of new Set(['seed', ...now.keys(), ...before.keys()])) {
    if (UNNAMED.test(path) || path === 'task.id') continue
    if (!is_same_task && path.startsWith('task.')) continue
    if (!is_same_list && path.startsWith('phases.')) continue
    const [value, other] = [now.get(path), before.get(path)]
    if (value !== other) words.push(changeText(path, value, other))
  }
  return words
}

/** Of all presets the one that the fewest fields differ from; ties go to the first. */
function nearestPreset(experiment: Experiment) {
  const counted = PRESETS.map((preset) => ({
    preset,
    count: changes(experiment, preset.experiment).length,
  }))
  return counted.reduce((best, other) => (other.count < best.count ? other : best)).preset
}

export interface AutoName {
  /** What differs, most important first; the preset's name where nothing does. */
  readonly name: string
  /** The preset that it differs from. */
  readonly from: string
}

const named = new WeakMap<Experiment, Map<string, AutoName>>()

/**
 * An automatic name: how an experiment differs from its preset, e.g. 'lr 1e-4 → 3e-4, layer 5'. Computed once for the same
 * objects.
 */
export function autoName(experiment: Experiment, preset_id: string): AutoName {
  const known = named.get(experiment) ?? new Map<string, AutoName>()
  named.set(experiment, known)
  const name = known.get(preset_id) ?? nameFrom(experiment, preset_id)
  known.set(preset_id, name)
  return name
}

const presetFor = (experiment: Experiment, preset_id: string) =>
  presetOf(preset_id) ?? nearestPreset(experiment)

function nameFrom(experiment: Experiment, preset_id: string): AutoName {
  const preset = presetFor(experiment, preset_id)
  const words = changes(experiment, preset.experiment)
  const by_hand = doneByHand(experiment.steering).length
  if (by_hand > 0) words.push(`${by_hand} ${by_hand === 1 ? 'change' : 'changes'} by hand`)
  if (words.length === 0) return { name: preset.name, from: preset.name }
  const more = words.length - MAX_WORDS
  const shown = more > 1 ? words.slice(0, MAX_WORDS) : words
  const name = shown.join(', ') + (more > 1 ? `, ${more} more` : '')
  return { name: name.slice(0, MAX_LENGTH), from: preset.name }
}

/** The name that a person gave the experiment; '' for a preset's own, or none. */
const givenName = ({ name }: Experiment): string =>
  PRESETS.some(({ experiment }) => experiment.name === name) ? '' : name.trim()

export interface RunName extends AutoName {
  /** Nobody gave it. */
  readonly is_automatic: boolean
  /** The automatic name, also where the run has another one. */
  readonly differs: string
}

/**
 * What to call a run: as its record was renamed, else as its experiment is named, else by its automatic name, which was made
 * once when it began.
 */
export function runName({
  header,
  labels,
}: {
  readonly header: RunHeader
  readonly labels: RunLabels
}): RunName {
  const { document, preset_id, auto_name, source } = header
  // Of an imported run no setting is known that could differ from a preset's.
  if (source) {
    const name = labels.name || document.name.trim() || source.file
    return { name, from: name, is_automatic: labels.name === '', differs: auto_name ?? name }
  }
  const automatic = autoName(document, preset_id)
  const differs = auto_name || automatic.name
  const given = labels.name || givenName(document)
  return { name: given || differs, from: automatic.from, is_automatic: given === '', differs }
}
