// What every layer does.
import { SuggestedLayer } from '../panels/SuggestedLayer.tsx'

export default function Inside() {
  return <SuggestedLayer />
}
