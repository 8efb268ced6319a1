// Lays what a form says over the study that it changes, and keeps what the form does not say.
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

/** The first seeds stay, and further ones count on. */
function seedsOf({ seeds }: Study, count: number): readonly number[] {
  const next = Math.max(...seeds) + 1
  return Array.from({ length: count }, (_, i) => seeds[i] ?? next + i - seeds.length)
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
  return {
    ...rest,
    ...said,
    name: isNamedSo && !isAsked ? question.slice(0, 80) : before.name,
    arms: arms.map((arm) => ({ ...before.arms.find(({ name }) => name === arm.name), ...arm })),
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
