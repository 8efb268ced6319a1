// The charts' own plot area, as the figures of the inside use it.
import { Plot, type PlotProps } from '../charts/Plot.tsx'

export type StepPlotProps = Omit<PlotProps, 'with_names'> & {
  /** What a person calls it. */
  readonly title: string
}

/** Phases are marked by their numbers alone: the plots are narrow. */
export function StepPlot({ title: _title, ...plot }: StepPlotProps) {
  return <Plot {...plot} with_names={false} />
}
