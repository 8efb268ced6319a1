// Draws what a study has found, in a word.
import type { Found } from '../../document/study/report/answer.ts'

const SAYS: Readonly<Record<Found, string>> = {
  differs: 'An arm differs from the one that all are compared with',
  equal: 'Shown to be equal within the margin that was fixed beforehand',
  undecided: 'Neither a difference nor equality is shown',
}

export function FoundMark({ found }: { readonly found: Found }) {
  return (
    <span className={`study-found ${found}`} title={SAYS[found]}>
      {found}
    </span>
  )
}
