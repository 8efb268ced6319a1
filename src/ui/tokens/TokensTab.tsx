// Draws responses token by token.

import { LookNow } from '../look/LookNow.tsx'
import { type PanelEntry, Panels } from '../part/Panels.tsx'
import { useKept } from '../shown/rested.ts'
import { Inspector } from './inspector/Inspector.tsx'
import { Stages } from './stages/Stages.tsx'

const LOOK: PanelEntry = { name: 'The look at a kept state', Own: LookNow }
const TOKEN_PANELS: readonly PanelEntry[] = [
  { name: 'The token inspector', Own: Inspector },
  { name: 'The stages of a step', Own: Stages },
]
/** What gives tokens their numbers comes first where none has any. */
const UNTRACED: readonly PanelEntry[] = [LOOK, ...TOKEN_PANELS]
const TRACED: readonly PanelEntry[] = [...TOKEN_PANELS, LOOK]

export function TokensTab() {
  const isUntraced = useKept().traces.items.length === 0
  return <Panels panels={isUntraced ? UNTRACED : TRACED} />
}
