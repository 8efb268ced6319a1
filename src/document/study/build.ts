// Builds a study from experiments that a person has: the first is the base, and every one an arm of
// what it says otherwise.
import type { Document } from '../experiment/fields/paths.ts'
import { isDocument } from '../experiment/fields/paths.ts'
import type { Experiment } from '../experiment/schema/schema.ts'
import { type Arm, baselineOf } from './arms.ts'
import type { Settings, Study } from './study.ts'

/** No setting of an arm: a study has seeds of its own, and pins the kernels. */
const NOT_COMPARED: readonly string[] = ['name', 'seed', 'version', 'kernels']

/** An experiment with the name that its arm has. */
export interface NamedExperiment {
  readonly name: string
  readonly experiment: Experiment
  /** What it says otherwise than the base, where a study says it. */
  readonly settings?: Settings
}

/** Letters of an arm's name, as the study's schema has them. */
const LONGEST_ARM = 60

/** What `own` says otherwise than `base`: leaves by their paths; lists, such as phases, as a
 * whole. */
function differenceOf(base: Experiment, own: Experiment): Settings {
  const found: Document = {}
  const visit = (before: unknown, after: unknown, path: string) => {
    if (JSON.stringify(before) === JSON.stringify(after)) return
    if (isDocument(before) && isDocument(after) && path !== 'task')
      for (const name of new Set([...Object.keys(before), ...Object.keys(after)]))
        visit(before[name], after[name], path === '' ? name : `${path}.${name}`)
    else found[path] = after ?? null
  }
  const plain = (experiment: Experiment) =>
    Object.fromEntries(Object.entries(experiment).filter(([name]) => !NOT_COMPARED.includes(name)))
  visit(plain(base), plain(own), '')
  return found
}

/** The base and the arms of a study of these experiments: the first one, where there is no base. */
export function armsFrom(
  experiments: readonly NamedExperiment[],
  base: Experiment = experiments[0].experiment,
) {
  const used = new Set<string>()
  const arms = experiments.map(({ name, experiment, settings }) => {
    let own = name.slice(0, LONGEST_ARM)
    for (let i = 2; used.has(own); i++) own = `${name.slice(0, LONGEST_ARM - 5)} (${i})`
    used.add(own)
    return { name: own, set: settings ?? differenceOf(base, experiment) }
  })
  return { base: JSON.parse(JSON.stringify(base)) as Document, arms }
}

/** The study without one of its arms. A point of a grid is taken out too: the others are then
 * listed one by one, and their runs are kept. Undefined where no two arms would be left, for the
 * arm that all others are compared with, and for a search, which chooses its own. */
export function withoutArm(study: Study, arms: readonly Arm[], name: string): Study | undefined {
  const rest = arms.filter((arm) => arm.name !== name)
  const baseline = baselineOf(study, arms).name
  if (study.search || rest.length < 2 || rest.length === arms.length || name === baseline)
    return undefined
  return {
    ...study,
    arms: rest.map((arm) => ({ name: arm.name.slice(0, 60), set: arm.settings })),
    grid: {},
    // One that is not named is the first, which stays.
    baseline: study.baseline === null ? null : baseline.slice(0, 60),
  }
}

const LONGEST_NAME = 80

/** What a study is called that may be a copy. */
export const plainName = ({ name }: Pick<Study, 'name'>): string =>
  name.replace(/ \(copy( \d+)?\)$/, '')

/** The study under a name that none of these has. */
export function copyOf(study: Study, names: readonly string[]): Study {
  const plain = plainName(study)
  const named = (i: number): string => {
    const end = i === 1 ? ' (copy)' : ` (copy ${i})`
    return `${plain.slice(0, LONGEST_NAME - end.length)}${end}`
  }
  let i = 1
  while (names.includes(named(i))) i++
  return { ...study, name: named(i) }
}
