// Makes the arms of a study: its experiments, one per setting, made equally long by its budget.
// Arms that cannot run are named before anything is trained.

import type { FieldValue } from '../../rl/fields/field.ts'
import { isSampling, plannedCosts, plannedStep } from '../experiment/costs/costs.ts'
import { parseExperiment } from '../experiment/experiment.ts'
import { armNumber } from '../experiment/fields/number_words.ts'
import { type Document, setAt } from '../experiment/fields/paths.ts'
import { isWarmStart } from '../experiment/fields/phases.ts'
import { placeWords, settingLabel, settingWords } from '../experiment/form/setting_words.ts'
import type { Experiment } from '../experiment/schema/schema.ts'
import { PRESETS } from '../presets/presets.ts'
import { countArms, gridPoints, gridsOf, MOST_ARMS } from './grid.ts'
import { unrunnable } from './runnable.ts'
import type { Settings, Study } from './study.ts'

/** One arm: what it is called, what it sets, and its experiment, whose seed is that of the base. */
export interface Arm {
  readonly name: string
  /** The name that the study gives it, without the point of the grid. */
  readonly group: string
  readonly settings: Settings
  readonly experiment: Experiment
  /** Steps that its settings say, where the budget makes it longer or shorter. */
  readonly stepsAsSet?: number
}

/** What a study trains, or why it cannot be trained at all. */
export type Expanded =
  | { readonly ok: true; readonly arms: readonly Arm[]; readonly notes: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[] }

const MOST_RUNS = 2000

/** A number with so many digits, where it is no whole one. */
const numberText =
  (digits: number) =>
  (value: number): string =>
    armNumber(Number.isInteger(value) ? value : Number(value.toPrecision(digits)))

/** Results are found by the names of their arms, and labels may change. */
const asWritten = (value: string): string => value || 'none'

/** What can be a value of one field; lists, such as phases, are no name. */
const isPlain = (value: unknown): value is FieldValue => value === null || typeof value !== 'object'

/** Enough to tell settings apart by eye, and all that a grid has. */
const DIGITS = [3, 6]

/** `phases.1.steps` and 3 as `phase 2: 3 steps`; the place is said once. */
function named(base: Experiment, settings: Settings, digits: number): string {
  let last = ''
  const parts = Object.entries(settings).map(([path, value]) => {
    const place = placeWords(path)
    const begins = place === last ? '' : place
    last = place
    const words = isPlain(value)
      ? settingWords(base, path, value, { number: numberText(digits), choice: asWritten })
      : `${settingLabel(base, path)} ${JSON.stringify(value).slice(0, 30)}`
    return `${begins}${words}`
  })
  return parts.join(', ')
}

/** The names of a grid's points, short where that tells them apart. */
function namesOf(base: Experiment, group: string, points: readonly Settings[]): readonly string[] {
  const [few, all] = DIGITS.map((digits) =>
    points.map((point) =>
      [group, named(base, point, digits)].filter((part) => part !== '').join(', '),
    ),
  )
  return new Set(few).size === points.length ? few : all
}

function baseDocument({ base }: Study): Document | string {
  if (typeof base !== 'string') return base as Document
  const preset = PRESETS.find(({ id }) => id === base)
  if (preset) return JSON.parse(JSON.stringify(preset.experiment)) as Document
  return `base: expected a document or one of ${PRESETS.map(({ id }) => id).join(', ')}, got ${base}`
}

/** The experiment with as many steps in its last phase of reinforcement as the budget of the base
 * allows, at least one. */
function withBudget(
  experiment: Experiment,
  base: Experiment,
  { budget }: Study,
): Experiment | string {
  if (budget.same === 'steps') return experiment
  const last = experiment.phases.findLastIndex(isSampling)
  const phase = experiment.phases[last]
  if (!isSampling(phase)) return 'it has no phase that samples to spend a budget in'
  const { same } = budget
  const rest = plannedCosts(base)[same] - plannedCosts(experiment)[same]
  const step = plannedStep(experiment, phase)[same]
  if (step === 0) return `its last phase spends no ${same}`
  const steps = Math.round(phase.steps + rest / step)
  if (steps < 1) return `its other phases take more ${same} than the base has`
  const phases = experiment.phases.map((other, i) => (i === last ? { ...phase, steps } : other))
  const parsed = parseExperiment({ ...experiment, phases })
  return parsed.ok ? parsed.experiment : `${parsed.issues[0].path}: ${parsed.issues[0].message}`
}

/** The arms of a study. */
export function expandStudy(study: Study): Expanded {
  const count = countArms(study)
  if (count > MOST_ARMS)
    return {
      ok: false,
      problems: [
        `the grid has ${count.toLocaleString('en')} arms, and at most ${MOST_ARMS} can be compared; search it instead (search.kind), or take values out of it`,
      ],
    }
  const runs = count * study.seeds.length
  if (runs > MOST_RUNS)
    return { ok: false, problems: [`${runs} runs, and at most ${MOST_RUNS} can be kept`] }
  const document = baseDocument(study)
  if (typeof document === 'string') return { ok: false, problems: [document] }
  const base = parseExperiment(document)
  if (!base.ok)
    return {
      ok: false,
      problems: base.issues.map(({ path, message }) => `base.${path}: ${message}`),
    }
  const given: readonly { name: string; set: Settings }[] =
    study.arms.length > 0 ? study.arms : [{ name: '', set: {} }]
  const grids = gridsOf(study)
  const made = given.flatMap(({ name, set }, i) => {
    const points = gridPoints(grids[i], study)
    const names = namesOf(base.experiment, name, points)
    return points.map((point, k) => {
      const settings = { ...set, ...point }
      const arm = { name: names[k] || 'base', group: name, settings }
      return makeArm(study, base.experiment, document, arm)
    })
  })
  const problems = made.flatMap((arm) => (typeof arm === 'string' ? [arm] : []))
  const arms = made.flatMap((arm) => (typeof arm === 'string' ? [] : [arm]))
  const { baseline } = study
  if (baseline !== null && !arms.some(({ name, group }) => [name, group].includes(baseline)))
    problems.push(
      `baseline: expected one of ${arms.map(({ name }) => name).join('; ')}, got ${baseline}`,
    )
  if (new Set(arms.map(({ name }) => name)).size < arms.length)
    problems.push('two arms have the same name; give each a name of its own')
  return problems.length > 0 ? { ok: false, problems } : { ok: true, arms, notes: notesOf(arms) }
}

/** Steps of all phases. */
export const stepsOf = ({ phases }: Experiment): number =>
  phases.reduce((sum, { steps }) => sum + steps, 0)

/** An arm, or why it cannot run. */
function makeArm(
  study: Study,
  base: Experiment,
  document: Document,
  { name, group, settings }: Pick<Arm, 'name' | 'group' | 'settings'>,
): Arm | string {
  const own: Document = JSON.parse(JSON.stringify(document))
  // A copy: further settings may go into it, and the study stays as it is.
  for (const [path, value] of Object.entries(settings))
    if (!setAt(own, path, structuredClone(value))) return `${name}: ${path}: there is no such field`
  // Kernels that are measured may differ from run to run, and with them the last bits.
  const kernels = own.kernels || 'default'
  const parsed = parseExperiment({ ...own, kernels, name: `${study.name}: ${name}`.slice(0, 80) })
  if (!parsed.ok) {
    const [{ path, message }] = parsed.issues
    return `${name}: ${path}: ${message}`
  }
  const problem = unrunnable(parsed.experiment)
  if (problem !== undefined) return `${name}: ${problem}`
  const experiment = withBudget(parsed.experiment, base, study)
  if (typeof experiment === 'string') return `${name}: ${experiment}`
  const asSet = stepsOf(parsed.experiment)
  const isOther = asSet !== stepsOf(experiment)
  return { name, group, settings, experiment, ...(isOther && { stepsAsSet: asSet }) }
}

/** What a reader of the comparison should know of its arms. */
function notesOf(arms: readonly Arm[]): string[] {
  const warm = ({ experiment: { phases, model, task, data } }: Arm) =>
    JSON.stringify([
      phases.slice(
        0,
        phases.findIndex((phase) => !isWarmStart(phase)),
      ),
      model,
      task,
      data,
    ])
  const [first, ...others] = arms
  const other = others.filter((arm) => warm(arm) !== warm(first)).map(({ name }) => name)
  return other.length === 0
    ? []
    : [
        `not all arms share the warm start of a seed: ${other.join('; ')} differ from ${first.name} in model, task, data or supervised phases`,
      ]
}

/** The arm that the others are compared with. */
export const baselineOf = ({ baseline }: Study, arms: readonly Arm[]): Arm =>
  arms.find(({ name, group }) => name === baseline || group === baseline) ?? arms[0]

/** The experiment of one run. */
export const runExperiment = ({ experiment }: Arm, seed: number): Experiment => ({
  ...experiment,
  seed,
})
