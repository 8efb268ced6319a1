// Gives the names of what the shown run has measured.
import { useMemo } from 'react'
import type { LabState } from '../../../page/state/store.ts'
import { useShownFrame } from '../../shown/shown.ts'

let known: { series: LabState['series']; size: number; names: string } | undefined

/** The names of what was measured so far, one a line: the same text until there is another one. */
function measuredNames({ series }: LabState): string {
  if (known?.series !== series || known.size !== series.size)
    known = { series, size: series.size, names: [...series.keys()].join('\n') }
  return known.names
}

/** The same list until there is another one. */
export function useMeasured(): readonly string[] {
  const names = useShownFrame(measuredNames)
  return useMemo(() => (names === '' ? [] : names.split('\n')), [names])
}
