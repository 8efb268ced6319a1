// Draws a run in a line: its mark, and its name.
import { runColor } from '../../../record/run/record.ts'
import { CutName } from '../../kit/CutName.tsx'
import { LineMark } from '../../plot/base/Keys.tsx'

/** `color`: an index of RUN_COLORS; undefined for a run that no chart draws: its mark is blank. */
export function RunMark({ color }: { readonly color: number | undefined }) {
  if (color === undefined)
    return <svg className="line-mark" width="22" height="8" aria-hidden="true" />
  return <LineMark {...runColor(color)} width={2.5} />
}

/** What the charts and the tables call a run. */
export function MarkedName({ name, color }: { readonly name: string; readonly color: number }) {
  return (
    <span className="marked-name">
      <RunMark color={color} /> <CutName name={name} />
    </span>
  )
}
