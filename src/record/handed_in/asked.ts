// Checks that a run is the one that a lesson asked for: that of its link, unchanged and not
// steered.
import { experimentFields } from '../../document/experiment/form/form.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { SteeringEntry } from '../../document/experiment/steering/actions.ts'
import { doneByHand } from '../../document/experiment/steering/steered_kernels.ts'
import { steeringWords } from '../../document/experiment/steering/words.ts'
import { decodeLink } from '../../document/links/link.ts'
import { type Difference, differences } from '../compare/compare.ts'

/** What a visitor may choose: it changes the chance or what is measured, not what is trained. A
 * link can still ask for it. */
const FREE = /^(seed|kernels)$|^(probe|validation)\./

/** A phase that only one of the two has: their number says it. */
const WHOLE_PHASE = /^phases\.\d+$/

/** So many settings away, a run is nearly the one that was asked for; beyond, it is another
 * experiment. */
const MOST_NAMED = 3

/** Of a file: it tells a person nothing. */
const HASH = /^sha256-/

/** The paths that a link names itself. */
const namedIn = (link: string): ReadonlySet<string> => new Set(new URLSearchParams(link).keys())

const fieldOf = (path: string, experiment: Experiment) =>
  experimentFields(experiment).find((field) => field.path === path)

/** A field by its label and its phase; what is no field of the form by the part that it is in. */
function fieldWords(path: string, experiment: Experiment): string {
  const fields = experimentFields(experiment)
  const field = fields.find((one) => one.path === path)
  const phase = /^phases\.(\d+)\./.exec(path)?.[1]
  if (phase !== undefined) return `${field?.label ?? 'A setting'} of phase ${Number(phase) + 1}`
  if (field) return field.label
  const [part] = path.split('.')
  return fields.find((one) => one.path.split('.')[0] === part)?.group ?? 'A setting'
}

/** A value as the form says it. */
function valueWords(value: string | undefined, path: string, experiment: Experiment): string {
  const options = fieldOf(path, experiment)?.options ?? []
  return options.find((one) => `${one.value}` === value)?.label ?? value ?? 'none'
}

/** What the run has, and `asked` in its place. */
function differenceWords({ path, values }: Difference, asked: Experiment): string {
  const isNamed = fieldOf(path, asked) && !values.some((value) => HASH.test(value ?? ''))
  if (!isNamed) return `${fieldWords(path, asked)}: not as it was asked for`
  const [wanted, found] = values.map((value) => valueWords(value, path, asked))
  return `${fieldWords(path, asked)}: ${found} in place of ${wanted}`
}

/** What a person did to a run. */
const doneWords = (entry: SteeringEntry, asked: Experiment): string =>
  entry.kind === 'set'
    ? `${fieldWords(entry.path, asked)}: ${valueWords(`${entry.value}`, entry.path, asked)} after step ${entry.step}`
    : `it was changed after step ${entry.step} (${steeringWords(entry)})`

/** Why the run of `document` is not the one that the link asks for, in a sentence for who can train
 * it now; undefined where it is. */
export function whyNotAsked(document: Experiment, link: string): string | undefined {
  const reasons = reasonsAgainst(document, link)
  if (reasons.length === 0) return undefined
  const isNear = document.task.id === decodeLink(link).experiment.task.id
  return isNear && reasons.length <= MOST_NAMED
    ? `The run on this page is not quite the lesson’s, so it does not count. ${reasons.join('; ')}. The button above trains it.`
    : 'The run on this page is another experiment, so it does not count. The button above trains it.'
}

/** What is otherwise in the run of `document` than the link asks for; undefined where nothing is.
 * The document is as the run began, with what was done to it. */
export function otherThanAsked(document: Experiment, link: string): string | undefined {
  const reasons = reasonsAgainst(document, link)
  if (reasons.length === 0) return undefined
  const more = reasons.length - MOST_NAMED
  return `${reasons.slice(0, MOST_NAMED).join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}

/** Each difference in words; none where it is the run that the link asks for. */
function reasonsAgainst(document: Experiment, link: string): readonly string[] {
  const { experiment: asked } = decodeLink(link)
  if (document.task.id !== asked.task.id) {
    const [found, wanted] = [document, asked].map((one) => valueWords(one.task.id, 'task.id', one))
    return [`Task: ${found} in place of ${wanted}`]
  }
  const named = namedIn(link)
  const counts = (path: string) => named.has(path) || !FREE.test(path)
  const unsteered = (one: Experiment): Experiment => ({ ...one, steering: [] })
  const other = differences([unsteered(asked), unsteered(document)]).filter(
    ({ path }) => counts(path) && !WHOLE_PHASE.test(path),
  )
  const [phases, wanted] = [document.phases.length, asked.phases.length]
  const byHand = doneByHand(document.steering).filter(
    (entry) => entry.kind !== 'set' || counts(entry.path),
  )
  return [
    ...(phases === wanted ? [] : [`Phases: ${phases} in place of ${wanted}`]),
    ...other.map((one) => differenceWords(one, asked)),
    ...byHand.map((entry) => doneWords(entry, asked)),
  ]
}
