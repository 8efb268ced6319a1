// What is special about a run, in a few words.
import type { Experiment, FieldValue } from '../experiment.ts'
import { PRESETS, presetOf } from '../presets.ts'
import { leavesOf } from './leaves.ts'

const MAX_WORDS = 3

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
  if (value === undefined) return `${name} as shared`
  if (typeof value === 'boolean') return value ? `+${name}` : `−${name}`
  if (typeof value === 'string' || path === 'seed' || before === undefined)
    return `${name} ${valueText(value)}`
  return `${name} ${valueText(before)} → ${valueText(value)}`
}

/** What an experiment says otherwise than another one, in words; kernels, which nobody looks for, aside. */
function changes(experiment: Experiment, from: Experiment): string[] {
  const [now, before] = [leavesOf(experiment), leavesOf(from)]
  const is_same_task = experiment.task.id === from.task.id
  const is_same_list = kindsOf(experiment) === kindsOf(from)
  const words: string[] = []
  if (!is_same_task) words.push(experiment.task.id.replaceAll('_', ' '))
  if (!is_same_list) words.push(`phases ${kindsOf(experiment).replaceAll(',', ', ')}`)
  for (const path of new Set(['seed', ...now.keys(), ...before.keys()])) {
    if (path === 'kernels' || path === 'task.id') continue
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
  /** What it differs from. */
  readonly from: string
}

/** What a name is measured against. */
export interface NamedFrom {
  readonly name: string
  readonly experiment: Experiment
}

const named = new WeakMap<Experiment, Map<NamedFrom | string, AutoName>>()

/**
 * The name of a run: how its experiment differs from the baseline's, else from its preset's, e.g. 'lr 1e-4 → 3e-4, layer 5'.
 * Computed once for the same objects.
 */
export function autoName(
  experiment: Experiment,
  preset_id: string,
  baseline: NamedFrom | undefined,
): AutoName {
  const known = named.get(experiment) ?? new Map<NamedFrom | string, AutoName>()
  named.set(experiment, known)
  const key = baseline ?? preset_id
  let name = known.get(key)
  if (!name) {
    name = nameFrom(experiment, preset_id, baseline)
    known.set(key, name)
  }
  return name
}

function nameFrom(
  experiment: Experiment,
  preset_id: string,
  baseline: NamedFrom | undefined,
): AutoName {
  const preset = presetOf(preset_id) ?? nearestPreset(experiment)
  const from = baseline ?? preset
  const words = changes(experiment, from.experiment)
  if (experiment.steering.length > 0)
    words.push(
      `${experiment.steering.length} ${experiment.steering.length === 1 ? 'change' : 'changes'} by hand`,
    )
  if (words.length === 0)
    return { name: baseline ? `as ${baseline.name}` : preset.name, from: from.name }
  const more = words.length - MAX_WORDS
  const shown = more > 1 ? words.slice(0, MAX_WORDS) : words
  const name = shown.join(', ') + (more > 1 ? `, ${more} more` : '')
  return { name, from: from.name }
}
