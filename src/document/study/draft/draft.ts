// Holds a study as the page's form writes it, and what is wrong with it, field by field.
import { parseExperiment } from '../../experiment/experiment.ts'
import { setAt } from '../../experiment/fields/paths.ts'
import { experimentFields } from '../../experiment/form/form.ts'
import { noSuchField } from '../../experiment/form/form_fields.ts'
import type { Experiment } from '../../experiment/schema/schema.ts'
import { type Arm, expandStudy } from '../arms.ts'
import { armsFrom, type NamedExperiment } from '../build.ts'
import { MOST_ARMS, readAxis } from '../grid.ts'
import { plannedCount } from '../search.ts'
import { parseStudy, type Study } from '../study.ts'
import { overStudy, type Said } from './over_study.ts'
import { proposedQuestion } from './question.ts'

export const MOST_SEEDS = 64

/** A field with several values, as it was typed. */
export interface DraftAxis {
  readonly path: string
  readonly values: string
  /** What was typed in place of a field, where none is called so. */
  readonly unknown?: string | undefined
}

export interface Draft {
  /** null = the one that is proposed. */
  readonly question: string | null
  /** What is compared: the present settings with values of a field, or arms that were chosen one by
   * one, where fields may have several values too. */
  readonly way: 'values' | 'arms'
  readonly axes: readonly DraftAxis[]
  readonly seeds: number
  readonly same: string
  readonly metric: string
  readonly at: string
  /** How settings of the axes are chosen: all of them, or by a search. */
  readonly kind: 'all' | 'random' | 'halving'
  /** Of a search: settings that are drawn, those that meet at the end, and the seeds that choose
   * them. */
  readonly settings: number
  readonly finalists: number
  readonly choosing: number
}

export const EMPTY_DRAFT: Draft = {
  question: null,
  way: 'values',
  axes: [{ path: '', values: '' }],
  seeds: 5,
  same: 'responses',
  metric: 'acc/greedy',
  at: 'end',
  kind: 'all',
  settings: 8,
  finalists: 2,
  choosing: 2,
}

/** A field of the form; `axis.0` is the values of the first field that has several, `field.0` that
 * field, and `form` is none of them. */
export type DraftField =
  | 'question'
  | 'arms'
  | 'seeds'
  | 'settings'
  | 'finalists'
  | 'choosing'
  | 'form'
  | `axis.${number}`
  | `field.${number}`

/** The study of a draft, or what is wrong with each field. `runs`: how many it trains. */
export type DraftStudy =
  | {
      readonly ok: true
      readonly study: Study
      readonly arms: readonly Arm[]
      readonly runs: number
    }
  | { readonly ok: false; readonly problems: ReadonlyMap<DraftField, readonly string[]> }

/** Reads a draft over these experiments; `present` is the base where none was chosen, or none
 * counts, and of all arms where a study is changed. `before`: that one. */
export function readDraft(
  draft: Draft,
  added: readonly NamedExperiment[],
  present: Experiment,
  before?: Study,
): DraftStudy {
  const chosen = draft.way === 'arms' ? added : []
  const problems = new Map<DraftField, string[]>()
  // Many arms can have one mistake.
  const say = (field: DraftField, message: string) =>
    problems.set(field, [...new Set([...(problems.get(field) ?? []), message])])
  for (const [field, message] of typedProblems(draft, chosen.length, present)) say(field, message)
  if (problems.size > 0) return { ok: false, problems }
  const parsed = parseStudy(
    before
      ? overStudy(before, documentOf(draft, chosen, present, true))
      : documentOf(draft, chosen, present),
  )
  if (!parsed.ok) {
    for (const { path, message } of parsed.issues) say(fieldOf(path, draft), message)
    return { ok: false, problems }
  }
  const expanded = expandStudy(parsed.study)
  if (expanded.ok) {
    const [{ study }, { arms }] = [parsed, expanded]
    const alike = sameArms(arms)
    if (alike) {
      say(draft.way === 'arms' && chosen.length > 1 ? 'arms' : 'axis.0', alike)
      return { ok: false, problems }
    }
    return { ok: true, study, arms, runs: plannedCount(study, arms) }
  }
  for (const problem of expanded.problems) say(...blamed(problem, draft, present))
  return { ok: false, problems }
}

/** Two arms that would be the same runs; undefined where there are none. */
function sameArms(arms: readonly Arm[]): string | undefined {
  const names = new Map<string, string>()
  for (const { name, experiment } of arms) {
    const settings = JSON.stringify({ ...experiment, name: '', seed: 0 })
    const before = names.get(settings)
    if (before !== undefined)
      return `“${before}” and “${name}” are the same settings: take one of them out, or change it.`
    names.set(settings, name)
  }
  return undefined
}

function documentOf(
  draft: Draft,
  chosen: readonly NamedExperiment[],
  present: Experiment,
  isBase = false,
): Said {
  const experiments = chosen.length > 0 ? chosen : [{ name: 'settings', experiment: present }]
  const { base, arms } = armsFrom(experiments, isBase ? present : undefined)
  const { axes, question, seeds, same, metric, at, kind, settings, finalists, choosing } = draft
  const used = axes.filter(({ path }) => path !== '')
  const asked = question?.trim() || proposedQuestion(draft, chosen, present)
  return {
    name: asked.slice(0, 80),
    question: asked,
    base,
    arms: arms.length > 1 || (isBase && chosen.length > 0) ? arms : [],
    grid: Object.fromEntries(used.map(({ path, values }) => [path, readAxis(values)])),
    ...(kind !== 'all' && { search: { kind, arms: settings, finalists, choosing } }),
    seeds: Array.from({ length: seeds }, (_, i) => i + 1),
    budget: { same },
    measure: { metric, at },
  }
}

/** What can be said before there is a document. */
function* typedProblems(
  draft: Draft,
  chosen: number,
  present: Experiment,
): Generator<[DraftField, string]> {
  const { axes, kind, settings, finalists, choosing, seeds, way } = draft
  const used = axes.filter(({ path }) => path !== '')
  if (used.length === 0 && way === 'arms' && chosen < 2)
    yield ['arms', 'Add two settings or runs, or a field with several values.']
  for (const [i, { path, values, unknown }] of axes.entries()) {
    if (unknown !== undefined) {
      yield [`field.${i}`, noSuchField(unknown)]
      continue
    }
    const isFirst = i === 0 && way === 'values' && used.length === 0 && values.trim() === ''
    const problem = isFirst
      ? 'Choose a field, and write two values of it or more.'
      : axisProblem({ path, values }, kind !== 'all', present)
    if (problem !== undefined) yield [`axis.${i}`, problem]
    else if (path !== '' && axes.findIndex((axis) => axis.path === path) < i)
      yield [`axis.${i}`, 'This field is above already.']
  }
  const counts = kind === 'all' ? { seeds } : { seeds, settings, finalists, choosing }
  for (const [field, count] of Object.entries(counts))
    if (!Number.isNaN(count) && !Number.isInteger(count))
      yield [field as keyof typeof counts, `Expected a whole number, got ${count}.`]
  if (!(seeds >= 1 && seeds <= MOST_SEEDS)) yield ['seeds', `Expected 1 to ${MOST_SEEDS} seeds.`]
  if (kind === 'all') return
  if (used.length === 0 && way === 'arms') yield ['axis.0', 'A search needs a field to search.']
  if (!(settings >= 2 && settings <= MOST_ARMS))
    yield ['settings', `Expected 2 to ${MOST_ARMS} settings.`]
  if (!(finalists >= 1 && finalists <= 8)) yield ['finalists', 'Expected 1 to 8.']
  else if (finalists >= settings)
    yield ['finalists', `Expected fewer than the ${settings} that are drawn.`]
  if (!(choosing >= 1)) yield ['choosing', 'Expected at least one seed that chooses.']
  else if (choosing >= seeds)
    yield ['choosing', `Expected fewer than the ${seeds} seeds: the others judge.`]
}

/** Why a field does not take a value; undefined where it does. */
function valueProblem(present: Experiment, path: string, value: unknown): string | undefined {
  const own = structuredClone(present)
  if (!setAt(own, path, value)) return undefined
  const parsed = parseExperiment(own)
  const issue = parsed.ok ? undefined : parsed.issues.find((one) => one.path === path)
  return issue && asSentence(withLabels(issue.message, present, path))
}

/** Words of a choice, each with what the form calls it. */
function withLabels(message: string, present: Experiment, path: string): string {
  const field = experimentFields(present).find((own) => own.path === path)
  const labels = new Map(field?.options?.map(({ value, label }) => [`${value}`, label]))
  return message.replace(/'([^']*)'(?=.*, got )/g, (word, value: string) => {
    const label = labels.get(value)
    return label === undefined ? word : `${word} (${label.replace(/ ?\(.*\)/, '')})`
  })
}

/** A value that is typed cannot be null. */
function asSentence(message: string): string {
  const said = message.replace(/,? or null(?=,)/, '')
  return `${said.charAt(0).toUpperCase()}${said.slice(1)}.`
}

function axisProblem(
  { path, values }: DraftAxis,
  isSearched: boolean,
  present: Experiment,
): string | undefined {
  const axis = readAxis(values)
  if (path === '')
    return values.trim() === '' ? undefined : 'Choose the field that has these values.'
  if (Array.isArray(axis)) {
    if (axis.length === 0) return 'Write its values, or a range such as 1e-4..1e-2 log 5.'
    if (axis.length === 1)
      return (
        valueProblem(present, path, axis[0]) ?? 'One value compares nothing: write a second one.'
      )
    const twice = axis.find((value, i) => axis.indexOf(value) < i)
    return twice === undefined ? undefined : `${twice} stands twice: take one of them out.`
  }
  const { from, to, count, scale } = axis
  if (!Number.isFinite(from) || !Number.isFinite(to))
    return 'A range is two numbers and how many, such as 0.5..1 3.'
  if (scale === 'log' && !(from > 0 && to > 0)) return 'A range with log needs numbers above 0.'
  if (count < 2 && !isSearched) return 'A range of one value compares nothing.'
  return undefined
}

/** Where the form shows an issue of the document. */
function fieldOf(path: string, { axes }: Draft): DraftField {
  const axis = axes.findIndex((one) => one.path !== '' && path.startsWith(`grid.${one.path}`))
  if (axis >= 0) return `axis.${axis}`
  if (path.startsWith('arms')) return 'arms'
  if (path.startsWith('seeds')) return 'seeds'
  if (path === 'search.choosing') return 'choosing'
  if (path === 'name' || path === 'question') return 'question'
  return 'form'
}

/** An arm that cannot run names the field of its grid, which then says the mistake alone. */
function blamed(problem: string, { axes }: Draft, present: Experiment): [DraftField, string] {
  for (const [i, { path }] of axes.entries()) {
    const [, message] = path === '' ? [] : problem.split(`: ${path}: `)
    if (message !== undefined) return [`axis.${i}`, asSentence(withLabels(message, present, path))]
  }
  return [/^the grid has/.test(problem) ? 'axis.0' : 'form', problem]
}
