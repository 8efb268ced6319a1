// Finds fields by a query, the likeliest first, as the search of the settings finds them.
import type { Field } from '../../../document/experiment/form/form_fields.ts'
import { nearFields } from '../../settings/field/near_fields.ts'
import { MAIN } from '../../settings/form.ts'
import { isFound, rankOf } from '../../settings/settings_search.ts'

/** What people change first comes before the rest of its rank. */
const isOther = ({ path }: Field) => !MAIN.some((main) => main.test(path))

/** What all phases share comes before what one phase says for itself. */
const isOfPhase = ({ path }: Field) => path.startsWith('phases.')

/** The fields that a query means; without one all of them, in their order. */
export function foundFields(query: string, fields: readonly Field[]): readonly Field[] {
  if (query.trim() === '') return fields
  return fields
    .filter((own) => isFound(query, own))
    .map((own) => ({ own, rank: Math.max(1, rankOf(query, own)) }))
    .toSorted(
      (a, b) =>
        a.rank - b.rank ||
        Number(isOther(a.own)) - Number(isOther(b.own)) ||
        Number(isOfPhase(a.own)) - Number(isOfPhase(b.own)),
    )
    .map(({ own }) => own)
}

/** What is offered for a query: the fields that it means, or, of none, those that are near. */
export function offeredFields(query: string, fields: readonly Field[]) {
  const found = foundFields(query, fields)
  const isNear = found.length === 0
  return { found: isNear ? nearFields(query, fields, foundFields) : found, isNear }
}
