// Draws what a study has found, in a word.
import type { Found } from '../../../document/study/report/answer.ts'

const SAYS: Readonly<Record<Found, { readonly name: string; readonly title: string }>> = {
  differs: { name: 'arms differ', title: 'An arm differs from the one that all are compared with' },
  equal: {
    name: 'shown equal',
    title: 'Shown to be equal within the margin that was fixed beforehand',
  },
  undecided: { name: 'not decided', title: 'Neither a difference nor equality is shown' },
}

export function FoundMark({ found }: { readonly found: Found }) {
  const { name, title } = SAYS[found]
  return (
    <span className={`study-found ${found}`} title={title}>
      {name}
    </span>
  )
}
