// What every layer does: each figure is measured only while it is in view.
import './inside.css'
import { Part } from '../base/page/Part.tsx'
import { SuggestedLayer } from '../phases/SuggestedLayer.tsx'
import { StepTools } from '../plot/ChartTools.tsx'
import { LayerLens } from '../tokens/lens/LayerLens.tsx'
import { CosineFigure } from './figures/CosineFigure.tsx'
import { DeltaFigure } from './figures/DeltaFigure.tsx'
import { EntropyFigure } from './figures/EntropyFigure.tsx'
import { FlowFigure } from './figures/FlowFigure.tsx'
import { HeatMaps } from './figures/HeatMaps.tsx'
import { PassFigure } from './figures/PassFigure.tsx'
import { TargetFigure } from './figures/TargetFigure.tsx'

export default function Inside() {
  return (
    <>
      <Part name="The entropy flow">
        <FlowFigure />
      </Part>
      <Part name="The layer lens">
        <LayerLens />
      </Part>
      <Part name="The changes of entropy">
        <DeltaFigure />
      </Part>
      <Part name="The suggested layer">
        <SuggestedLayer />
      </Part>
      <Part name="The cosines">
        <CosineFigure />
      </Part>
      <Part name="The tools of the charts">
        <StepTools />
      </Part>
      <Part name="The figure of the target">
        <TargetFigure />
      </Part>
      <Part name="The heat maps">
        <HeatMaps />
      </Part>
      <Part name="The entropy over the run">
        <EntropyFigure />
      </Part>
      <Part name="The figure of solved problems">
        <PassFigure />
      </Part>
    </>
  )
}
