// Chooses the settings that the form shows, and their headings.

import { experimentFields } from '../../document/experiment/form/form.ts'
import { valuesBeside } from '../../document/experiment/form/like_phases.ts'
import { saidValue } from '../../document/experiment/form/setting_words.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'

/** One setting as the form draws it: value, range, help, and what it stands under. */
export type FieldData = ReturnType<typeof experimentFields>[number]

/** The fields of the form: those that change anything as the other settings are. */
export const shownFields = (experiment: Experiment): FieldData[] =>
  experimentFields(experiment).filter(({ hasEffect }) => hasEffect)

/** Values by path. A setting that a phase takes over from the experiment is not one of its own. */
export type Values = ReadonlyMap<string, FieldData['value']>

/** `as`: their paths are those of the same phases in this experiment. */
export const ownValues = (experiment: Experiment, as = experiment): Values =>
  valuesBeside(
    as,
    experiment,
    experimentFields(experiment).filter(({ isOverridden }) => isOverridden !== false),
  )

/** The settings that differ from what the preset says. One that every phase takes over is one. */
export const changedFields = (fields: readonly FieldData[], original: Values): FieldData[] =>
  fields.filter(({ path, value, isOverridden }) =>
    original.has(path) ? original.get(path) !== value : isOverridden === true,
  )

const isEstimator = ({ path }: FieldData): boolean => /^phases\.\d+\.adv_estimator$/.test(path)

/** The changed fields that are one choice: of the algorithm, where all phases have the same; of a
 * single phase it is a field like any other. */
export function algorithmOf(fields: readonly FieldData[], original: Values): readonly FieldData[] {
  const all = fields.filter(isEstimator)
  const changed = changedFields(all, original)
  return changed.length > 1 && new Set(all.map(({ value }) => value)).size === 1 ? changed : []
}

/** How many settings differ from what the preset says; what was chosen once counts once. */
export const countChanged = (fields: readonly FieldData[], original: Values): number =>
  changedFields(fields, original).length - Math.max(0, algorithmOf(fields, original).length - 1)

/** What no field shows: which phases there are, what responses are worth, what may be called. */
const PARTS = ['phases', 'reward', 'tools'] as const
export type Part = (typeof PARTS)[number]

/** The parts that differ from the preset's: a change each, though none of the fields may be. */
export const changedParts = (...both: readonly [Experiment, Experiment]): readonly Part[] =>
  PARTS.filter((part) => {
    // Of a phase its kind alone: the rest has fields.
    const keys = part === 'phases' ? ['kind'] : undefined
    const [own, preset] = both.map((of) => JSON.stringify(of[part], keys))
    return own !== preset
  })

export const isNumber = ({ kind }: FieldData): boolean => kind === 'integer' || kind === 'number'

/** Commas as Chinese writes them. */
const COMMAS = /[，、]/g

/** The value of a text; null for a number that is empty. A field whose help asks for commas takes
 * those of Chinese too. */
export function typedValue(field: FieldData, text: string): FieldData['value'] {
  if (field.kind === 'boolean') return text === 'true'
  if (!isNumber(field)) return field.help.includes('with commas') ? text.replace(COMMAS, ',') : text
  return text.trim() === '' ? null : Number(text)
}

/** Groups that are unfolded at first: what people change first. */
export const OPEN_AT_FIRST = /^(Main settings|Experiment|Task)$/

/** A value as the form shows it, without its unit. */
export const valueWords = ({ value, options }: FieldData): string => saidValue(value, options)

/** A value in a sentence. */
export const spoken = (field: FieldData): string =>
  field.value === '' ? 'empty' : valueWords(field)

/** What people change first, by the ends of their paths; beside the length of the last phase. */
export const MAIN = [
  /^actor\.optim\.lr$/,
  /^rollout\.n$/,
  /^rollout\.train_batch_size$/,
  /^rollout\.temperature$/,
  /^model\.num_hidden_layers$/,
] as const

/** The six main settings: five that all experiments share, and the length of the last phase. */
export function mainFields(fields: readonly FieldData[], phases: number): FieldData[] {
  const paths = [...MAIN, new RegExp(`^phases\\.${phases - 1}\\.steps$`)]
  return paths.flatMap((path) => fields.find((field) => path.test(field.path)) ?? [])
}

/** Fields under their headings, in the order of the form. */
export function groupFields(fields: readonly FieldData[]): [string, FieldData[]][] {
  const groups = new Map<string, FieldData[]>()
  for (const field of fields) {
    const group = groups.get(field.group)
    if (group) group.push(field)
    else groups.set(field.group, [field])
  }
  return [...groups].map(([group, own]) => [group, own.toSorted((a, b) => place(a) - place(b))])
}

/** What asks for a teacher stands above the sizes of it. */
const place = ({ path }: FieldData): number => (path.startsWith('teacher.') ? 1 : 0)
