// Finds in one pass what a run can obey of steering that strangers wrote.
import { followExperiment, schemaIssues } from '../experiment.ts'
import { type Issue, sizeIssue } from '../fields/paths.ts'
import { type Experiment, experimentSchema } from '../schema/schema.ts'
import { MAX_STEERING } from '../steering/actions.ts'

/** The experiment with those of `entries` that can be obeyed, in order; each of the others is
 * reported once, with its place in `entries` and what is wrong with it. Takes hostile entries: each
 * is parsed once and followed once, so n of them cost some 2n parses however many are bad. */
export function withObeyable(
  experiment: Experiment,
  entries: readonly unknown[],
  leaveOut: (index: number, issue: Issue) => void,
): Experiment {
  const kept: { readonly index: number; readonly entry: Experiment['steering'][number] }[] = []
  for (const [index, entry] of entries.entries()) {
    const document = { steering: [entry] }
    const size = sizeIssue(document)
    const parsed = size ? undefined : experimentSchema.safeParse(document)
    const issue =
      kept.length >= MAX_STEERING
        ? { path: '', message: `expected at most ${MAX_STEERING} entries` }
        : (size ?? (parsed?.error && schemaIssues(parsed.error)[0]))
    if (issue || !parsed?.success) leaveOut(index, belowEntry(issue))
    else kept.push({ index, entry: parsed.data.steering[0] })
  }
  const steering = kept.map(({ entry }) => entry)
  const isBad = new Set<number>()
  followExperiment({ ...experiment, steering }, (at, issue) => {
    isBad.add(at)
    leaveOut(kept[at].index, belowEntry(issue))
  })
  const obeyed = { ...experiment, steering: steering.filter((_, at) => !isBad.has(at)) }
  const size = sizeIssue(obeyed)
  if (!size) return obeyed
  for (const [at, { index }] of kept.entries())
    if (!isBad.has(at)) leaveOut(index, { path: '', message: size.message })
  return experiment
}

/** An issue's path within its entry: 'steering.3.value' is 'value'. */
const belowEntry = (issue: Issue | undefined): Issue => ({
  path: issue?.path.split('.').slice(2).join('.') ?? '',
  message: issue?.message ?? '',
})
