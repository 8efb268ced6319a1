// What every layer does: each figure is measured only while it is in view.
import '../inside.css'
import { StepTools } from '../charts/ChartTools.tsx'
import { CosineFigure } from '../inside/CosineFigure.tsx'
import { DeltaFigure } from '../inside/DeltaFigure.tsx'
import { EntropyFigure } from '../inside/EntropyFigure.tsx'
import { FlowFigure } from '../inside/FlowFigure.tsx'
import { HeatMaps } from '../inside/HeatMaps.tsx'
import { PassFigure } from '../inside/PassFigure.tsx'
import { TargetFigure } from '../inside/TargetFigure.tsx'
import { LayerLens } from '../lens/LayerLens.tsx'
import { SuggestedLayer } from '../panels/SuggestedLayer.tsx'

export default function Inside() {
  return (
    <>
      <FlowFigure />
      <LayerLens />
      <DeltaFigure />
      <SuggestedLayer />
      <CosineFigure />
      <StepTools />
      <TargetFigure />
      <HeatMaps />
      <EntropyFigure />
      <PassFigure />
    </>
  )
}
