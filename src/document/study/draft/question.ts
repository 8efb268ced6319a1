// Proposes the question of a study by what differs between its arms, in the words of the settings.
import { experimentFields } from '../../experiment/form/form.ts'
import { lowered, placeWords, saidValue } from '../../experiment/form/setting_words.ts'
import type { Experiment } from '../../experiment/schema/schema.ts'
import { armsFrom, type NamedExperiment } from '../build.ts'
import { readAxis } from '../grid.ts'

/** What is asked about: fields with the values that were typed, and the measure. */
interface Asked {
  readonly axes: readonly { readonly path: string; readonly values: string }[]
  readonly metric: string
}

/** What is counted as better, by the metric. */
const GIVES: Readonly<Record<string, string>> = {
  'acc/greedy': 'more right answers',
  'critic/score/mean': 'more reward in training',
}

/** Values or arms that are named one by one; a question of more is not read to its end. */
const MOST_NAMED = 4

/** 'a, b or c'; of many the first and how many more. */
function choiceWords(all: readonly string[]): string {
  const named = all.length > MOST_NAMED ? all.slice(0, MOST_NAMED - 1) : all
  const last = all.length > named.length ? `${all.length - named.length} others` : named.at(-1)
  const first = all.length > named.length ? named : named.slice(0, -1)
  return first.length === 0 ? `${last}` : `${first.join(', ')} or ${last}`
}

/** How a question names a setting, 'learning rate', and its values: 'on', '0.0003', a choice by its
 * label. */
function wordsOf(experiment: Experiment, path: string) {
  const field = experimentFields(experiment).find((own) => own.path === path)
  const said = (value: unknown): string => saidValue(value, field?.options)
  return { name: `${placeWords(path)}${lowered(field?.label ?? path)}`, said }
}

function axisWords(experiment: Experiment, path: string, values: string): string {
  const axis = readAxis(values)
  const { name, said } = wordsOf(experiment, path)
  const choice = Array.isArray(axis)
    ? choiceWords(axis.map(said))
    : `from ${said(axis.from)} to ${said(axis.to)}`
  return `${name} ${choice}`
}

/** The one setting that chosen arms differ in, as the words of its values; undefined where they
 * differ in more. */
function onlyDifference(arms: readonly NamedExperiment[]): string | undefined {
  const [{ experiment }] = arms
  const sets = armsFrom(arms).arms.map(({ set }) => set)
  const paths = [...new Set(sets.flatMap((set) => Object.keys(set)))]
  const [path] = paths
  const isPlain = sets.every((set) => set[path] === null || typeof set[path] !== 'object')
  if (paths.length !== 1 || path === 'task' || !isPlain) return undefined
  const own = path.split('.').reduce<unknown>((at, name) => Object(at)[name], experiment)
  const { name, said } = wordsOf(experiment, path)
  return `${name} ${choiceWords(sets.map((set) => said(path in set ? set[path] : own)))}`
}

/** 'What gives more right answers: learning rate 0.001 or 0.0003?' `chosen`: arms of the person's
 * own; `present` is what the fields are set in where there is none. */
export function proposedQuestion(
  { axes, metric }: Asked,
  chosen: readonly NamedExperiment[],
  present: Experiment,
): string {
  const base = chosen[0]?.experiment ?? present
  const arms =
    chosen.length > 1
      ? [onlyDifference(chosen) ?? choiceWords(chosen.map(({ name }) => `“${name}”`))]
      : []
  const fields = axes
    .filter(({ path, values }) => path !== '' && values.trim() !== '')
    .map(({ path, values }) => axisWords(base, path, values))
  const differs = [...arms, ...fields].join(', and ')
  const gives = GIVES[metric] ?? metric
  const question = differs === '' ? `What gives ${gives}?` : `What gives ${gives}: ${differs}?`
  return question.slice(0, 400)
}
