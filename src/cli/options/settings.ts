// Reads --set KEY=VALUE: any field of an experiment from the command line.
import { parseExperiment, withField } from '../../document/experiment/experiment.ts'
import { nearest } from '../../document/experiment/fields/nearest.ts'
import { setAt, valueAt } from '../../document/experiment/fields/paths.ts'
import { experimentFields } from '../../document/experiment/form/form.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { show } from '../../rl/fields/field.ts'
import { LabFailure, UsageError } from '../base/command.ts'
import { tell } from '../base/terminal.ts'

interface Setting {
  readonly path: string
  readonly value: unknown
}

/** `phases.0.steps=5`: the value is JSON where it can be read so, else a text. Throws
 * UsageError. */
function settingOf(given: string): Setting {
  const [, path, text] = /^([\w.]+)=(.*)$/s.exec(given) ?? []
  if (path === undefined)
    throw new UsageError(`--set: expected key=value, such as seed=3, got '${given}'`)
  try {
    return { path, value: JSON.parse(text) }
  } catch {
    return { path, value: text }
  }
}

const lastOf = (path: string) => path.split('.').at(-1) ?? path

/** The fields that a person may have meant by a name that is none. */
function meant(path: string, known: readonly string[]): readonly string[] {
  const ending = known.filter((own) => own.endsWith(`.${path}`))
  // The experiment's own field comes before those of its phases.
  const depth = (own: string) => own.split('.').length + (own.startsWith('phases.') ? 9 : 0)
  if (ending.length > 0) return ending.toSorted((a, b) => depth(a) - depth(b)).slice(0, 3)
  const whole = nearest(path, known)
  if (whole !== undefined) return [whole]
  const last = nearest(lastOf(path), known.map(lastOf))
  return known.filter((own) => lastOf(own) === last).slice(0, 4)
}

/** Throws UsageError for a key that the experiment does not have, naming those that may be
 * meant. */
function requireField(experiment: Experiment, { path }: Setting): void {
  const known = experimentFields(experiment).map((field) => field.path)
  if (known.includes(path) || valueAt(experiment, path) !== undefined) return
  const near = meant(path, known)
  const hint =
    near.length > 0
      ? `did you mean ${near.join(' or ')}?`
      : 'docs and the settings of the page name the fields.'
  throw new UsageError(`--set: there is no field ${path} in this experiment; ${hint}`)
}

/** All at once, for fields that fit one another only together. Throws LabFailure with everything
 * that is wrong. */
function together(experiment: Experiment, settings: readonly Setting[]): Experiment {
  const document = structuredClone(experiment)
  for (const { path, value } of settings) setAt(document, path, value)
  const parsed = parseExperiment(document)
  if (parsed.ok) return parsed.experiment
  throw new LabFailure(
    ['--set:', ...parsed.issues.map(({ path, message }) => `${path}: ${message}`)].join('\n  '),
  )
}

/** The document with every field set, in their order, and says of each what it was and is. A
 * document that is wrong already is refused where it is read. Throws UsageError or LabFailure. */
export function withSettings(document: object, given: readonly string[]): object {
  const settings = given.map(settingOf)
  const parsed = parseExperiment(document)
  if (!parsed.ok) return document
  const { experiment } = parsed
  let changed = experiment
  let isSound = true
  for (const setting of settings) {
    requireField(changed, setting)
    const set = withField(changed, setting.path, setting.value)
    if (set.ok) changed = set.experiment
    else isSound = false
  }
  if (!isSound) changed = together(experiment, settings)
  for (const { path } of settings)
    tell(`${path}: ${show(valueAt(experiment, path))} → ${show(valueAt(changed, path))}`)
  return changed
}
