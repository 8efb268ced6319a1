// Finds all that is wrong with a document at once, for whoever has to repair it. A page that opens
// a sound one never loads this.

import { unknownField } from '../../rl/fields/field.ts'
import { withResponseLength } from './experiment.ts'
import { nearest } from './fields/nearest.ts'
import { type Document, type Issue, isDocument, setAt } from './fields/paths.ts'
import { brokenRules } from './rules/rules.ts'
import { withEpochs } from './schema/epochs.ts'
import { experimentSchema } from './schema/schema.ts'
import { withoutNulls } from './schema/verl_words.ts'

const UNKNOWN_FIELD = unknownField('')

/** Of a field that there is not, first the one that may be meant. */
function withNearest(issue: Issue): Issue {
  const { path, message } = issue
  if (!message.startsWith(UNKNOWN_FIELD)) return issue
  const name = path.split('.').at(-1) ?? path
  const near = nearest(name, message.slice(UNKNOWN_FIELD.length).split(', '))
  return near === undefined ? issue : { ...issue, message: `did you mean ${near}? ${message}` }
}

/** All that is wrong with a document that parseExperiment has refused as `wrong`: beside the single
 * fields the rules that it breaks, where those fields count as not given. Parses once more. */
export function everyIssue(document: unknown, wrong: readonly Issue[]): readonly Issue[] {
  // Rules are looked at where every field is sound: then they are all in `wrong`.
  const isWhole = experimentSchema.safeParse(document).success
  const beside = isDocument(document) && !isWhole ? rulesBeside(document, wrong) : []
  return [...wrong.map(withNearest), ...beside]
}

function rulesBeside(document: Document, wrong: readonly Issue[]): Issue[] {
  const rest = structuredClone(document)
  for (const { path } of wrong) setAt(rest, path, undefined)
  const parsed = experimentSchema.safeParse(withResponseLength(withoutNulls(rest)))
  if (!parsed.success) return []
  const concerns = (path: string) => wrong.some((own) => path.startsWith(own.path))
  return brokenRules(withEpochs(parsed.data)).filter(
    ({ path, involved = [] }) => ![path, ...involved].some(concerns),
  )
}
