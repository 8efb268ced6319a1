// Finds the fields that a mistyped query is nearest to, for the search of the settings and for
// whatever names a field.
import { nearest } from '../../../document/experiment/fields/nearest.ts'
import type { Field } from '../../../document/experiment/form/form_fields.ts'
import { wordsOf } from '../../kit/fuzzy.ts'
import { t } from '../../kit/translator.ts'

/** Names that are offered in place of one that no field has. */
const MOST_NEAR = 3

/** Letters of a word that another one lacks. */
function lacking(word: string, other: string): number {
  const left = [...other]
  return [...word].filter((letter) => {
    const at = left.indexOf(letter)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  }).length
}

/** A short word is another word at once, and few slips are of the first letter. */
function isSlip(word: string, near: string): boolean {
  if (word === near || word.length > 7) return true
  if (word.length < 4 || word[0] !== near[0]) return false
  return word.length > 5 || lacking(word, near) + lacking(near, word) < 3
}

/** The fields whose names a query may have meant, which no field answers: those that its words name
 * once slips of the hand are corrected, and words that are near nothing are left out. `find`: the
 * fields that a query means, the likeliest first. */
export function nearFields(
  query: string,
  fields: readonly Field[],
  find: (query: string, fields: readonly Field[]) => readonly Field[],
): readonly Field[] {
  const known = fields.flatMap(({ label, path }) =>
    wordsOf(`${label} ${t(label)} ${path.replaceAll(/[._]/g, ' ')}`),
  )
  const names = [...new Set(known)]
  const meant = wordsOf(query.replaceAll(/[._]/g, ' ')).flatMap((word) => {
    const near = nearest(word, names)
    return near !== undefined && isSlip(word, near) ? near : []
  })
  const together = meant.length === 0 ? [] : find(meant.join(' '), fields)
  const found = together.length > 0 ? together : meant.flatMap((word) => find(word, fields))
  return [...new Set(found)].slice(0, MOST_NEAR)
}
