// Draws responses token by token.

import { withLook } from '../look/with_look.tsx'
import { Panels } from '../part/Panels.tsx'
import { useKept } from '../shown/rested.ts'
import { Inspector } from './inspector/Inspector.tsx'
import { Stages } from './stages/Stages.tsx'

const PANELS = withLook(
  [
    { name: 'The token inspector', Own: Inspector },
    { name: 'The stages of a step', Own: Stages },
  ],
  () => useKept().traces.items.length === 0,
)

export const TokensTab = () => <Panels panels={PANELS} />
