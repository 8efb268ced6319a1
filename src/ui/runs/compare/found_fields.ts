// Finds fields by a query, the likeliest first, as the search of the settings finds them.
import { nearest } from '../../../document/experiment/fields/nearest.ts'
import type { Field } from '../../../document/experiment/form/form_fields.ts'
import { searchable, wordsOf } from '../../kit/fuzzy.ts'
import { MAIN } from '../../settings/form.ts'
import { askedWords, isMeant } from '../../settings/other_words.ts'
import { isFound, isNamed } from '../../settings/settings_search.ts'

/** A label that begins with what is typed, or plain words that mean it, come before one that has
 * the words elsewhere; then come its path and its heading, and last its help. */
function rankOf(query: string, field: Field): number {
  const words = askedWords(query)
  const label = searchable([field.label])
  const begins = label.split('\n').some((name) => name.startsWith(words.join(' ')))
  if (begins || isMeant(words, field.path)) return 0
  if (words.every((word) => label.includes(word))) return 1
  return isNamed(query, field) ? 2 : 3
}

/** What people change first comes before the rest of its rank. */
const isOther = ({ path }: Field) => !MAIN.some((main) => main.test(path))

/** What all phases share comes before what one phase says for itself. */
const isOfPhase = ({ path }: Field) => path.startsWith('phases.')

/** The fields that a query means; without one all of them, in their order. */
export function foundFields(query: string, fields: readonly Field[]): readonly Field[] {
  if (query.trim() === '') return fields
  return fields
    .filter((own) => isFound(query, own))
    .map((own) => ({ own, rank: rankOf(query, own) }))
    .toSorted(
      (a, b) =>
        a.rank - b.rank ||
        Number(isOther(a.own)) - Number(isOther(b.own)) ||
        Number(isOfPhase(a.own)) - Number(isOfPhase(b.own)),
    )
    .map(({ own }) => own)
}

/** Names that are offered in place of one that no field has. */
const MOST_NEAR = 3

/** The fields whose names a query may have meant, which no field answers: those that its words name
 * once slips of the hand are corrected, and words that are near nothing are left out. */
export function nearFields(query: string, fields: readonly Field[]): readonly Field[] {
  const known = fields.flatMap(({ label, path }) =>
    wordsOf(`${label} ${path.replaceAll(/[._]/g, ' ')}`),
  )
  const names = [...new Set(known)]
  const meant = wordsOf(query.replaceAll(/[._]/g, ' ')).flatMap(
    (word) => nearest(word, names) ?? [],
  )
  const together = meant.length === 0 ? [] : foundFields(meant.join(' '), fields)
  const found = together.length > 0 ? together : meant.flatMap((word) => foundFields(word, fields))
  return [...new Set(found)].slice(0, MOST_NEAR)
}

/** What is offered for a query: the fields that it means, or, of none, those that are near. */
export function offeredFields(query: string, fields: readonly Field[]) {
  const found = foundFields(query, fields)
  const isNear = found.length === 0
  return { found: isNear ? nearFields(query, fields) : found, isNear }
}
