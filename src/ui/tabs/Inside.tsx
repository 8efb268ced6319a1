// What every layer does.
import { LayerLens } from '../lens/LayerLens.tsx'
import { SuggestedLayer } from '../panels/SuggestedLayer.tsx'

export default function Inside() {
  return (
    <>
      <LayerLens />
      <SuggestedLayer />
    </>
  )
}
