// Lays what a form says over the study that it changes, and keeps what the form does not say.
import { parseExperiment } from '../../experiment/experiment.ts'
import type { Experiment } from '../../experiment/schema/schema.ts'
import { presetOf } from '../../presets/presets.ts'
import { expandStudy } from '../arms.ts'
import { plainName } from '../build.ts'
import type { Settings, Study } from '../study.ts'

/** What the form says. */
export interface Said {
  readonly name: string
  readonly question: string
  readonly base: unknown
  readonly arms: readonly { readonly name: string; readonly set: Settings }[]
  readonly grid: object
  readonly search?: object | undefined
  readonly seeds: readonly number[]
  readonly budget: object
  readonly measure: { readonly metric: string; readonly at: string }
}

/** The experiment that a study begins from; undefined where it cannot be read. */
export function baseOf({ base }: Study): Experiment | undefined {
  if (typeof base === 'string') return presetOf(base)?.experiment
  const parsed = parseExperiment(base)
  return parsed.ok ? parsed.experiment : undefined
}

/** The first seeds stay, and further ones count on. */
function seedsOf({ seeds }: Study, count: number): readonly number[] {
  const next = Math.max(...seeds) + 1
  return Array.from({ length: count }, (_, i) => seeds[i] ?? next + i - seeds.length)
}

/** Whether a form lists the arms of a study, each with a grid of its own, as they are. */
function areListed(before: Study, said: Said): boolean {
  if (before.arms.every(({ grid }) => grid === undefined)) return false
  const expanded = expandStudy({ ...before, budget: { same: 'steps' }, baseline: null })
  const listed = expanded.ok && expanded.arms.map(({ name, settings: set }) => ({ name, set }))
  return JSON.stringify([listed, {}]) === JSON.stringify([said.arms, said.grid])
}

/** What a form says of a study that it changes, with what it does not say as it was. */
export function overStudy(before: Study, said: Said): object {
  const { power, baseline, ...rest } = before
  const { seeds, measure, search, arms, question } = said
  const isSame = seeds.length === before.seeds.length
  const names = arms.map(({ name }) => name)
  const armsOf = (one: Pick<Said, 'arms' | 'grid'>) =>
    JSON.stringify([one.arms.map(({ name }) => name), one.grid])
  const hasBaseline =
    baseline === null || names.includes(baseline) || armsOf(before) === armsOf(said)
  // A study that was named after its question still is.
  const isNamedSo = before.question.startsWith(plainName(before))
  const isAsked = question === before.question
  const isSameBase = JSON.stringify(baseOf(before)) === JSON.stringify(said.base)
  return {
    ...rest,
    ...said,
    // A preset stays one by its name.
    base: isSameBase ? before.base : said.base,
    name: isNamedSo && !isAsked ? question.slice(0, 80) : before.name,
    ...(areListed(before, said)
      ? { arms: before.arms, grid: before.grid }
      : {
          arms: arms.map((arm) => ({
            ...before.arms.find(({ name }) => name === arm.name),
            ...arm,
          })),
        }),
    seeds: seedsOf(before, seeds.length),
    measure: {
      ...before.measure,
      ...measure,
      reaches: measure.at === 'level' ? before.measure.reaches : null,
    },
    search: search && (before.search ? { ...before.search, ...search } : search),
    baseline: hasBaseline ? baseline : null,
    // It was worked out for so many seeds.
    ...(isSame && power !== undefined && { power }),
  }
}
