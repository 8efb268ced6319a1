// Draws how arms of different lengths are compared, beside them.
import type { Arm } from '../../../document/study/arms.ts'
import { lengthSentence } from '../../../document/study/report/lengths.ts'
import type { Study } from '../../../document/study/study.ts'

export function Lengths(props: { readonly study: Study; readonly arms: readonly Arm[] }) {
  const sentence = lengthSentence(props.study, props.arms)
  if (sentence === undefined) return null
  return (
    <p className="soft" data-testid="study-lengths">
      {sentence}
    </p>
  )
}
