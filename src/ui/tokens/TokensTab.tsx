// Draws responses token by token.

import { withLook } from '../look/with_look.tsx'
import { Panels } from '../part/Panels.tsx'
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
export const TokensTab = () =>
  useIsImported() ? (
    <section className="card" data-testid="tokens-log">
      <p>A log has no weights, and no responses token by token.</p>
    </section>
  ) : (
    <Panels panels={PANELS} />
  )
