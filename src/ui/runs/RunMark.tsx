// The line of a run beside its name.
import { runColor } from '../../lab/runs/record.ts'

/** A piece of the run's line, as the charts draw it. */
export function RunMark({ color }: { readonly color: number }) {
  const { color: stroke, dash } = runColor(color)
  return (
    <svg className="run-mark" width="24" height="8" aria-hidden="true">
      <line
        x1="1"
        x2="23"
        y1="4"
        y2="4"
        stroke={stroke}
        strokeWidth="3"
        strokeDasharray={dash.join(' ')}
      />
    </svg>
  )
}
