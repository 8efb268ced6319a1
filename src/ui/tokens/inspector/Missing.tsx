// Says why the chosen colour has nothing to show, and offers what would measure it.
import { useRecordOver } from '../../look/kept_states.ts'
import { LookAtLast } from '../../look/LookNow.tsx'
import { type Mode, missingReason } from '../base/colours.ts'
import type { Shown } from './shown_responses.ts'

/** Why a step brought no entropies of its layers though they were asked for. */
const refusedWords = ({ layers }: Shown): string | undefined =>
  layers?.refused === undefined
    ? undefined
    : `The entropies of the layers cannot be shown: ${layers.refused}`

const lookWords = (step: string) => `Look at the state after step ${step}`

export function Missing({ mode, shown }: { readonly mode: Mode; readonly shown: Shown }) {
  const isOver = useRecordOver() !== undefined
  const isOfLayer = mode === 'layer_entropy'
  const refused = isOfLayer ? refusedWords(shown) : undefined
  return (
    <p data-testid="colour-missing">
      {refused ?? missingReason(mode, shown.updates ?? 0, isOver)}{' '}
      {isOfLayer && refused === undefined ? <LookAtLast words={lookWords} /> : null}
    </p>
  )
}
