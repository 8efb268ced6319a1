// Draws responses token by token.

import { withLook } from '../look/with_look.tsx'
import { Panels } from '../part/Panels.tsx'
import { Part } from '../part/Part.tsx'
import { useKept } from '../shown/rested.ts'
import { useIsImported } from '../shown/shown.ts'
import { Inspector } from './inspector/Inspector.tsx'
import { Stages } from './stages/Stages.tsx'

const PANELS = withLook(
  [
    { name: 'The token inspector', Own: Inspector },
    { name: 'The stages of a step', Own: Stages },
  ],
  () => useKept().traces.items.length === 0,
)

/** Of a log no token is ever read. */
function Responses() {
  if (!useIsImported()) return <Panels panels={PANELS} />
  return (
    <section className="card" data-testid="tokens-log">
      <p>A log has no weights, and no responses token by token.</p>
    </section>
  )
}

export const TokensTab = () => (
  <Part name="The responses">
    <Responses />
  </Part>
)
