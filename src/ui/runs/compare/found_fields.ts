// Finds fields by a query, the likeliest first, as the search of the settings finds them.
import type { Field } from '../../../document/experiment/form/form_fields.ts'
import { searchable, wordsOf } from '../../kit/fuzzy.ts'
import { isMeant } from '../../settings/other_words.ts'
import { isFound, isNamed } from '../../settings/settings_search.ts'

/** Its label or plain words come before its path and its heading, and these before its help. */
function rankOf(query: string, field: Field): number {
  const words = wordsOf(query)
  const label = searchable([field.label])
  if (isMeant(words, field.path) || words.every((word) => label.includes(word))) return 0
  return isNamed(query, field) ? 1 : 2
}

/** What all phases share comes before what one phase says for itself. */
const isOfPhase = ({ path }: Field) => path.startsWith('phases.')

/** The fields that a query means; without one all of them, in their order. */
export function foundFields(query: string, fields: readonly Field[]): readonly Field[] {
  if (query.trim() === '') return fields
  return fields
    .filter((own) => isFound(query, own))
    .map((own) => ({ own, rank: rankOf(query, own) }))
    .toSorted((a, b) => a.rank - b.rank || Number(isOfPhase(a.own)) - Number(isOfPhase(b.own)))
    .map(({ own }) => own)
}
