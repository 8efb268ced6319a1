// Says the unit of a setting behind its number.
import { t } from '../../kit/translator.ts'

/** A language may count with a measure word, which the bare word lacks: it is said as what is
 * counted. */
export function unitWords(unit: string): string {
  const counted = t(`0 ${unit}`)
  return counted.startsWith('0 ') ? counted.slice(2) : unit
}

/** What is said already is no text of the page's source: it is not said again. */
export const Unit = ({ of }: { readonly of: string }) => (
  <span className="soft unit" translate="no">
    {unitWords(of)}
  </span>
)
