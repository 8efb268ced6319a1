// Responses token by token.

import { Part } from '../base/page/Part.tsx'
import { Inspector } from './inspector/Inspector.tsx'
import { Stages } from './stages/Stages.tsx'

export default function Tokens() {
  return (
    <>
      <Part name="The token inspector">
        <Inspector />
      </Part>
      <Part name="The stages of a step">
        <Stages />
      </Part>
    </>
  )
}
