// Says what a run of a preset looks like when all is well: its usual result first.
import { seenOf } from '../../document/presets/seen.ts'
import { Words } from '../glossary/Words.tsx'

export function WhatToSee({ id }: { readonly id: string }) {
  const seen = seenOf(id)
  if (!seen) return null
  const { usual_accuracy, seeds, what_you_should_see, measured } = seen
  const [runs, adapter] = measured.split(', on ')
  return (
    <>
      {usual_accuracy === '' ? null : (
        <p data-testid="usual-result">
          <b>
            {seeds === 1
              ? `One run ended with ${usual_accuracy} of held-out problems right.`
              : `Usual result: ${usual_accuracy} of held-out problems right, over ${seeds} seeds.`}
          </b>
        </p>
      )}
      <p>
        <Words text={what_you_should_see} />
      </p>
      {measured === '' ? null : (
        <details>
          <summary>How it was measured</summary>
          <p>
            Measured: <span>{runs}</span>, on <span translate="no">{adapter}</span>.
          </p>
        </details>
      )}
    </>
  )
}
