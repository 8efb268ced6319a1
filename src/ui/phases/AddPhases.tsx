// Draws the button that opens the choice of a phase to add.
import { type ReactNode, useId, useState } from 'react'
import { MAX_PHASES } from '../../document/experiment/schema/schema.ts'
import { later } from '../part/later.tsx'
import type { PhaseChooserProps } from './PhaseChooser.tsx'

const PhaseChooser = later(
  'The choice of a phase',
  async () => (await import('./PhaseChooser.tsx')).PhaseChooser,
)

interface AddPhasesProps extends Omit<PhaseChooserProps, 'id' | 'onDone'> {
  readonly icon: ReactNode
}

export function AddPhases({ experiment, isBusy, icon, onSaid }: AddPhasesProps) {
  const [open, setOpen] = useState(false)
  const id = useId()
  const isFull = experiment.phases.length >= MAX_PHASES
  const words = isBusy ? 'Insert phase' : 'Add phase'
  return (
    <>
      <button
        type="button"
        data-testid="add-phase"
        aria-expanded={open}
        aria-controls={id}
        disabled={isFull}
        title={isFull ? `An experiment has at most ${MAX_PHASES} phases` : words}
        onClick={() => setOpen(!open)}
      >
        {icon} <span className="bar-words add-words">{words}</span>
      </button>
      {open && !isFull ? (
        <PhaseChooser
          id={id}
          experiment={experiment}
          isBusy={isBusy}
          onSaid={onSaid}
          onDone={() => setOpen(false)}
        />
      ) : null}
    </>
  )
}
