// Draws responses token by token.

import { LookNow } from '../look/LookNow.tsx'
import { type PanelEntry, Panels } from '../part/Panels.tsx'
import { Inspector } from './inspector/Inspector.tsx'
import { Stages } from './stages/Stages.tsx'

const TOKEN_PANELS: readonly PanelEntry[] = [
  { name: 'The look at a kept state', Own: LookNow },
  { name: 'The token inspector', Own: Inspector },
  { name: 'The stages of a step', Own: Stages },
]

export function TokensTab() {
  return <Panels panels={TOKEN_PANELS} />
}
