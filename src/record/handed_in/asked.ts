// Checks that a run is the one that a lesson asked for: that of its link, unchanged and not
// steered.
import { experimentFields } from '../../document/experiment/form/form.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { doneByHand } from '../../document/experiment/steering/steered_kernels.ts'
import { steeringWords } from '../../document/experiment/steering/words.ts'
import { decodeLink } from '../../document/links/link.ts'
import { type Difference, differences } from '../compare/compare.ts'

/** What a visitor may choose: it changes the chance or what is measured, not what is trained. A
 * link can still ask for it. */
const FREE = /^(seed|kernels)$|^(probe|validation)\./

/** Reasons that are named; the rest is counted. */
const MOST_NAMED = 3

/** The paths that a link names itself. */
const namedIn = (link: string): ReadonlySet<string> => new Set(new URLSearchParams(link).keys())

/** A field by its label and its phase; the path where it is no field of a form. */
function fieldWords(path: string, experiment: Experiment): string {
  const label = experimentFields(experiment).find((field) => field.path === path)?.label
  const phase = /^phases\.(\d+)\./.exec(path)?.[1]
  return `${label ?? path}${phase === undefined || label === undefined ? '' : ` of phase ${Number(phase) + 1}`}`
}

/** `asked` and what the run has in its place. */
function differenceWords({ path, values }: Difference, asked: Experiment): string {
  const [wanted, found] = values.map((value) => value ?? 'nothing')
  return `${fieldWords(path, asked)} is ${found} in place of ${wanted}`
}

/** Why the run of `document` is not the one that the link asks for, in a sentence for who can train
 * it now; undefined where it is. */
export function whyNotAsked(document: Experiment, link: string): string | undefined {
  const other = otherThanAsked(document, link)
  if (other === undefined) return undefined
  return `The present run is another one, so it does not count: ${other}. Press the button to train the one that is asked for.`
}

/** What is otherwise in the run of `document` than the link asks for; undefined where nothing is.
 * The document is as the run began, with what was done to it. */
export function otherThanAsked(document: Experiment, link: string): string | undefined {
  const { experiment: asked } = decodeLink(link)
  const named = namedIn(link)
  const unsteered = (one: Experiment): Experiment => ({ ...one, steering: [] })
  const other = differences([unsteered(asked), unsteered(document)]).filter(
    ({ path }) => named.has(path) || !FREE.test(path),
  )
  const byHand = doneByHand(document.steering).filter(
    (entry) => entry.kind !== 'set' || named.has(entry.path) || !FREE.test(entry.path),
  )
  if (document.task.id !== asked.task.id)
    return says([`its task is ${document.task.id} in place of ${asked.task.id}`])
  if (other.length > 0) return says(other.map((one) => differenceWords(one, asked)))
  if (byHand.length === 0) return undefined
  return says(
    byHand.map((entry) => `it was changed after step ${entry.step} (${steeringWords(entry)})`),
  )
}

function says(reasons: readonly string[]): string {
  const more = reasons.length - MOST_NAMED
  const shown = reasons.slice(0, MOST_NAMED).join('; ')
  const rest = more > 0 ? `; and ${more} more` : ''
  return `${shown}${rest}`
}
