// Shows the tab Inside: what every layer does. Each figure is measured in a run's moments, in each
// step while it is in view, and in kept states.
import './inside.css'
import { withLook } from '../look/with_look.tsx'
import { type PanelEntry, Panels } from '../part/Panels.tsx'
import { Part } from '../part/Part.tsx'
import { useKept } from '../shown/rested.ts'
import { useIsImported } from '../shown/shown.ts'
import { LayerLens } from '../tokens/lens/LayerLens.tsx'
import { LearnedCard } from '../touch/LearnedCard.tsx'
import { PatchingCard } from '../touch/PatchingCard.tsx'
import { ProbesCard } from '../touch/ProbesCard.tsx'
import { LivePartsCard } from '../touch/parts/LivePartsCard.tsx'
import { PartsCard } from '../touch/parts/PartsCard.tsx'
import { ReadingsCard } from '../touch/ReadingsCard.tsx'
import { SteeringCard } from '../touch/SteeringCard.tsx'
import type { Question } from './base/answers.ts'
import { Contents } from './Contents.tsx'
import { CosineFigure } from './figures/CosineFigure.tsx'
import { DeltaFigure } from './figures/DeltaFigure.tsx'
import { EntropyFigure } from './figures/EntropyFigure.tsx'
import { FlowFigure } from './figures/FlowFigure.tsx'
import { HeatMaps } from './figures/HeatMaps.tsx'
import { PassFigure } from './figures/PassFigure.tsx'
import { TargetFigure } from './figures/TargetFigure.tsx'
import { MomentsChoice } from './MomentsChoice.tsx'
import { Nothing } from './Nothing.tsx'
import { SuggestedLayer } from './suggested/SuggestedLayer.tsx'

/** A question that the figures below it answer. */
const question = (words: Question): PanelEntry => ({
  name: `The question “${words}”`,
  Own: () => (
    <h2 className="inside-group" data-question={words}>
      {words}
    </h2>
  ),
})

/** In each group those that wait for a button of theirs come last. */
const FIGURES: readonly PanelEntry[] = [
  { name: 'What fills the figures', Own: Nothing },
  { name: 'The contents', Own: Contents },
  question('What does a layer know?'),
  { name: 'The layer lens', Own: LayerLens },
  { name: 'The entropy flow', Own: FlowFigure },
  { name: 'Which layer knows it', Own: ProbesCard },
  { name: 'Other readings of a layer', Own: ReadingsCard },
  question('What does a block do?'),
  { name: 'The changes of entropy', Own: DeltaFigure },
  { name: 'The cosines', Own: CosineFigure },
  { name: 'The suggested layer', Own: SuggestedLayer },
  question('What changed?'),
  { name: 'The heat maps', Own: HeatMaps },
  { name: 'The entropy over the run', Own: EntropyFigure },
  { name: 'The figure of solved problems', Own: PassFigure },
  { name: 'The figure of the target', Own: TargetFigure },
  { name: 'Which layer learned it', Own: LearnedCard },
  question('What causes it?'),
  { name: 'What each part does while it trains', Own: LivePartsCard },
  { name: 'What each part does', Own: PartsCard },
  { name: 'Where the answer travels', Own: PatchingCard },
  { name: 'What a direction does', Own: SteeringCard },
]

const PANELS: readonly PanelEntry[] = [
  ...withLook(FIGURES, () => useKept().observations.items.length === 0),
  { name: 'The choice of moments', Own: MomentsChoice },
]

/** Of a log no figure ever fills. */
function Figures() {
  if (!useIsImported()) return <Panels panels={PANELS} />
  return (
    <section className="card look-now" data-testid="inside-log">
      <p>A log has no weights to look into.</p>
    </section>
  )
}

export const InsideTab = () => (
  <Part name="The figures">
    <Figures />
  </Part>
)
