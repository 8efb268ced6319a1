// Says a setting and its value in a few words, as a person would: 'lr 0.0003', '20 steps'.

import type { FieldValue } from '../../../rl/fields/field.ts'
import { newPhase } from '../experiment.ts'
import { numberWords } from '../fields/number_words.ts'
import { PHASE_KINDS } from '../fields/phases.ts'
import type { Experiment } from '../schema/schema.ts'
import { experimentFields } from './form.ts'
import type { Field } from './form_fields.ts'

/** Letters of a value that is said in a name. */
const MAX_TEXT = 24
/** Words that are shorter than a label. */
const SHORT: Readonly<Record<string, string>> = {
  'learning rate': 'lr',
  'trained policy': 'layer',
}

const fields = new WeakMap<Experiment, ReadonlyMap<string, Field>>()

function fieldsOf(experiment: Experiment): ReadonlyMap<string, Field> {
  const known =
    fields.get(experiment) ??
    new Map(experimentFields(experiment).map((field) => [field.path, field]))
  fields.set(experiment, known)
  return known
}

let everyKind: Experiment | undefined

/** The field; of a phase that is of another kind here, or is not there, that of any phase. */
function fieldOf(experiment: Experiment, path: string): Field | undefined {
  const own = fieldsOf(experiment).get(path)
  const [, name] = /^phases\.\d+\.(.+)$/.exec(path) ?? []
  if (own || name === undefined) return own
  everyKind ??= { ...experiment, phases: PHASE_KINDS.map((kind) => newPhase(kind)) }
  const others = fieldsOf(everyKind)
  return PHASE_KINDS.map((_, i) => others.get(`phases.${i}.${name}`)).find(Boolean)
}

/** The other settings leave it without effect. */
export const isIdle = (experiment: Experiment, path: string): boolean =>
  fieldsOf(experiment).get(path)?.hasEffect === false

/** A text inside of a sentence. Capitals within a word are a name, such as KL. */
export const lowered = (label: string): string =>
  /^[A-Z]{2}|^[A-Z][a-z]+[A-Z–]/.test(label) ? label : label[0].toLowerCase() + label.slice(1)

/** 'phase 2: ', 'critic ', 'validation ', '' for a setting of all phases. */
export function placeWords(path: string): string {
  const phase = /^phases\.(\d+)\./.exec(path)
  const [whose = ''] =
    /(?<=(^|\.))critic(?=\.)|^validation(?=\.(test_freq|val_before))|^probe(?=\.)/.exec(path) ?? []
  return `${phase ? `phase ${Number(phase[1]) + 1}: ` : ''}${whose && `${whose} `}`
}

/** 'lr', 'KL in the loss': what a person calls a setting. One that this experiment lacks is called
 * by the end of its path. */
export function settingLabel(experiment: Experiment, path: string): string {
  const field = fieldOf(experiment, path)
  const label = lowered(field?.label ?? path.slice(path.lastIndexOf('.') + 1).replaceAll('_', ' '))
  return SHORT[label] ?? label
}

/** A value as people say it: a choice by its label, 'on', '0.0003'. */
export function saidValue(value: unknown, options: Field['options'] = []): string {
  const option = options.find((one) => one.value === value)
  if (option) return option.label
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  if (typeof value === 'number') return numberWords(value)
  return `${value || 'none'}`
}

/** What is chosen, without what its label explains in parentheses. The name of the layer that is
 * trained says already what 'final' is of. */
const choiceName = (value: string, options: Field['options']): string =>
  value === 'final' ? value : saidValue(value, options).replace(/ \(.*\)$/, '')

/** The same of a setting that this experiment has. */
export const settingValue = (experiment: Experiment, path: string, value: unknown): string =>
  saidValue(value, fieldOf(experiment, path)?.options)

/** How values are written. */
interface Texts {
  readonly number?: (value: number) => string
  readonly choice?: typeof choiceName
}

/** 'lr 0.0003', '20 steps', 'with KL in the loss', without its place. `experiment`: one that has
 * the field. */
export function settingWords(
  experiment: Experiment,
  path: string,
  value: FieldValue | undefined,
  { number = numberWords, choice = choiceName }: Texts = {},
): string {
  const name = settingLabel(experiment, path)
  // A list of verdicts or a text of one's own is no name.
  if (typeof value === 'string' && value.length > MAX_TEXT) return `own ${name}`
  if (value === undefined) return `${name} as in all phases`
  if (value === null) return `${name} none`
  if (typeof value === 'boolean') return `${value ? 'with' : 'without'} ${name}`
  const { unit, options } = fieldOf(experiment, path) ?? {}
  if (typeof value === 'string') return `${name} ${choice(value, options)}`
  const words = name.split(' ')
  const isCounted = unit !== '' && [words[0], words.at(-1)].includes(unit)
  if (name === 'every') return `${name} ${number(value)} ${unit}`
  return isCounted ? `${number(value)} ${name}` : `${name} ${number(value)}`
}
