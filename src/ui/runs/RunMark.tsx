// The line of a run beside its name.
import { runColor } from '../../lab/runs/record.ts'

/** A piece of a line, as the charts draw it. */
export function LineMark(props: { readonly color: string; readonly dash: readonly number[] }) {
  return (
    <svg className="run-mark" width="24" height="8" aria-hidden="true">
      <line
        x1="1"
        x2="23"
        y1="4"
        y2="4"
        stroke={props.color}
        strokeWidth="3"
        strokeDasharray={props.dash.join(' ')}
      />
    </svg>
  )
}

export function RunMark({ color }: { readonly color: number }) {
  return <LineMark {...runColor(color)} />
}
