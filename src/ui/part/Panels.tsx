// Draws panels of the page from a list. Each breaks alone, and each is given the step that the page
// shows.
import type { ComponentType } from 'react'
import type { LabState } from '../../page/state/store.ts'
import { useTextPace } from '../shown/readout.ts'
import { usePresent } from '../shown/shown.ts'
import { readShownStep, type ShownStep } from '../shown/shown_step.ts'
import { Part } from './Part.tsx'

export interface PanelProps {
  readonly shown: ShownStep
}

interface Named {
  /** Begins the sentence about a panel that threw: 'The numbers'. */
  readonly name: string
}

/** A `Panel` is rendered again whenever the shown step or its data change, at most four times a
 * second while a run goes on. An `Own` component is rendered once and reads the stores itself: for
 * those that are not about one step, and those that cost too much for that. */
export type PanelEntry = Named &
  ({ readonly Panel: ComponentType<PanelProps> } | { readonly Own: ComponentType })

const selectSeries = ({ series }: LabState) => series

function AtShownStep({ Panel }: { readonly Panel: ComponentType<PanelProps> }) {
  useTextPace()
  // Every run has columns of its own: another one shows at once.
  usePresent(selectSeries)
  return <Panel shown={readShownStep()} />
}

export function Panels({ panels }: { readonly panels: readonly PanelEntry[] }) {
  return panels.map((entry) => (
    <Part key={entry.name} name={entry.name}>
      {'Panel' in entry ? <AtShownStep Panel={entry.Panel} /> : <entry.Own />}
    </Part>
  ))
}
