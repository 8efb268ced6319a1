// Draws how the run is, and the numbers of the moment.
import { later } from '../part/later.tsx'
import type { PanelProps } from '../part/Panels.tsx'
import { Status } from './Status.tsx'

const RunNumbers = later(
  'The numbers of the run',
  async () => (await import('./more/RunNumbers.tsx')).RunNumbers,
)

export function Numbers({ shown }: PanelProps) {
  const { isNewest, step } = shown
  return (
    <div
      className={isNewest ? 'numbers' : 'numbers back'}
      data-testid="numbers"
      data-step={isNewest ? undefined : step}
    >
      <Status />
      <RunNumbers shown={shown} />
    </div>
  )
}
