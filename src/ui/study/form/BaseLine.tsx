// Says what all arms of a study begin from: the nearest preset, and what differs from it.
import { useMemo } from 'react'
import type { Arm } from '../../../document/study/arms.ts'
import type { Study } from '../../../document/study/study.ts'
import { baseSentence } from '../../../record/run/base_words.ts'

export function BaseLine(props: { readonly study: Study; readonly arms: readonly Arm[] }) {
  const { study, arms } = props
  const said = useMemo(() => baseSentence(study, arms), [study, arms])
  if (said === undefined) return null
  return (
    <p className="soft" data-testid="study-base">
      {said}
    </p>
  )
}
